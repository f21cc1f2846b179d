import pytest
from target import Warehouse


def test_nothing_happens():
    assert Warehouse([]).process([]) == ([], [])


def test_what_expires_first_goes_first():
    warehouse = Warehouse([("nuts", "B", 5, 20), ("nuts", "A", 5, 20), ("nuts", "C", 5, 10)])
    assert warehouse.process([("out", 1, "nuts", 8, "kim")]) == ([("kim", "nuts", [("C", 5), ("A", 3)])], [])
    assert [lot["quantity"] for lot in warehouse.lots] == [5, 2]


def test_expired_lots_stay_where_they_are():
    warehouse = Warehouse([("nuts", "A", 5, 20), ("nuts", "B", 5, 21)])
    assert warehouse.process([("out", 21, "nuts", 5, "kim")])[0] == [("kim", "nuts", [("B", 5)])]
    assert [lot["lot"] for lot in warehouse.lots] == ["A"]


def test_an_order_is_met_whole_or_not_at_all():
    warehouse = Warehouse([("nuts", "A", 5, 20)])
    movements = [("out", 1, "nuts", 6, "kim"), ("in", 2, "nuts", 1, "B", 9), ("out", 3, "nuts", 6, "lee")]
    assert warehouse.process(movements) == ([("lee", "nuts", [("B", 1), ("A", 5)])], [("kim", "nuts", 1)])


def test_an_unknown_movement_is_refused():
    with pytest.raises(ValueError, match="no such movement: lost"):
        Warehouse([]).process([("lost", 1, "nuts", 1, "kim")])
