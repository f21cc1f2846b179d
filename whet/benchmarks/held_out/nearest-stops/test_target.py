from target import nearest_stops


def test_no_stops():
    assert nearest_stops([(0, 0)], [], 100) == [None]


def test_the_nearest_within_reach():
    stops = [("far", 300, 400, 7), ("near", 3, 4, 5), ("out", 301, 400, 9)]
    assert nearest_stops([(0, 0), (9999, 0)], stops, 500) == [
        {"stop": "near", "metres": 5.0, "stops": 2, "departures": 12},
        None,
    ]


def test_of_equally_near_ones_the_busier_then_the_first():
    assert nearest_stops([(0, 0)], [("a", 0, 2, 1), ("b", 2, 0, 3), ("c", 0, -2, 3)], 2)[0]["stop"] == "b"
