from target import bill

TARIFFS = [
    {"prefix": "0049", "destination": "Germany", "per_minute": "0.10", "off_peak": "0.5", "connection": "0.05"},
    {"prefix": "004917", "destination": "Germany mobile", "per_minute": "0.225", "off_peak": "1", "connection": "0"},
]


def call(number, start="2024-03-01T10:00:00", seconds=60, caller="ann"):
    return {"caller": caller, "number": number, "start": start, "seconds": seconds}


def test_no_calls():
    assert bill([], TARIFFS) == ({}, [])


def test_the_longest_prefix_holds_and_minutes_are_started():
    bills, _ = bill([call("0049301", seconds=61), call("0049171", seconds=60)], TARIFFS)
    assert bills == {"ann": {"calls": 2, "destinations": {"Germany": "0.25", "Germany mobile": "0.23"}, "total": "0.48"}}


def test_nights_and_weekends_are_cheaper():
    bills, _ = bill([call("00491", "2024-03-01T18:00:00"), call("00491", "2024-03-02T10:00:00")], TARIFFS)
    assert bills["ann"]["total"] == "0.20"


def test_free_and_unrated_calls():
    assert bill([call("112"), call("1"), call("00491", seconds=0)], TARIFFS) == (
        {"ann": {"calls": 3, "destinations": {}, "total": "0.00"}},
        [("ann", "1", "2024-03-01T10:00:00")],
    )
