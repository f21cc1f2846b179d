import random

import pytest
from depot import cartons, checks, dispatch, invoices, labels, ledger, manifest, nightly, packing, tallies, yard


def parcel(sender="A", number=1, grams=2, lane=0):
    return {"sender": sender, "number": number, "grams": grams, "lane": lane}


def test_parcels_are_kept_once():
    kept, repeated = manifest.distinct_parcels([parcel(), parcel(), parcel(number=2), parcel(number=3)], [3])
    assert [p["number"] for p in kept] == [1, 2]
    assert repeated == 1


def test_lanes_weigh_in_kilograms():
    assert manifest.lane_weights([parcel(grams=1500), parcel(grams=1), parcel(lane=1)]) == {0: 2, 1: 1}


def test_an_invoice_finds_its_customer():
    customers = [{"id": 1, "name": "one", "currency": "EUR"}, {"id": 2, "name": "two", "currency": "EUR"}]
    made = [
        {"number": 7, "customer": 2, "cents": 50, "paid": False},
        {"number": 8, "customer": 3, "cents": 60, "paid": True},
        {"number": 9, "customer": 1, "cents": 70, "paid": True},
    ]
    lines, still_open = invoices.statement_lines(made, customers)
    assert lines == [(7, "two", 50, "open"), (9, "one", 70, "paid")]
    assert still_open == {"two": 50}


@pytest.mark.parametrize(("length", "ways"), [(0, 1), (1, 0), (5, 3), (7, 6)])
def test_packings(length, ways):
    assert packing.packings(length, 2) == ways


def test_crates_go_into_the_first_row_that_takes_them():
    assert packing.first_fit([3, 5, 2, 7], 8) == [[3, 5], [2], [7]]


def test_frequent_codes_in_the_order_of_their_first_scan():
    assert tallies.frequent_codes([3, 1, 3, 2, 1, 3], 2) == [(3, 3), (1, 2)]


def test_lorries_leave_when_they_are_ready():
    assert dispatch.dispatch_order([(5, 1, 1), (0, 2, 2)], 10) == [(0, 2), (5, 1), (12, 2)]


def test_the_balance_of_the_last_days():
    assert ledger.rolling_balances([1, 2, 3, 4], 2) == [1, 3, 5, 7]
    assert ledger.worst_run([5, 4, 3, 6, 2]) == 2


def test_labels_are_read_back():
    parcels, unread = labels.scan_labels(["ACME/000123 1500g", " B/000001 2kg ", "?"])
    assert parcels == [
        {"sender": "ACME", "number": 123, "grams": 1500},
        {"sender": "B", "number": 1, "grams": 2000},
    ]
    assert unread == ["?"]
    assert labels.check_digit(7992739871) == 3


def test_docks():
    assert yard.reachable(0, {0: [1, 2], 1: [3], 2: [3]}) == {0: 0, 1: 1, 2: 1, 3: 2}
    assert yard.nearest_docks([(0, 0), (9, 9)], [("a", 1, 1), ("b", 8, 8)]) == ["a", "b"]


def test_prices():
    assert cartons.price_list([5, 15, 99], [(20, 200), (10, 100)]) == [100, 200, 400]
    assert cartons.price_table([105, 7]) == "     0     1.05\n     1     0.07\n"


def test_names():
    assert checks.similarity("kitten", "sitting") == 3
    assert checks.likely_names(["mil", "xxxxxxx"], ["mill", "market"], 2) == ["mill", None]


def test_the_night_is_the_same_every_time():
    assert nightly.goods(random.Random(1), 1) == nightly.goods(random.Random(1), 1)
