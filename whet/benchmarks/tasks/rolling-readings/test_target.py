from target import rolling_report


def test_no_readings():
    assert rolling_report([], 3) == ([], [])


def test_gaps_are_told_and_do_not_count_for_the_window():
    rows, gaps = rolling_report([5, None, 7, None, 9], 2)
    assert gaps == [1, 3]
    assert rows == [(0, 10, 0, 0, False), (2, 12, 2, 1, True), (4, 16, 2, 1, True)]


def test_the_window_ends_with_the_reading():
    rows, _ = rolling_report([1, 2, 3, 4], 3)
    assert [row[1] for row in rows] == [2, 3, 4, 6]
    assert [row[2] for row in rows] == [0, 1, 2, 2]


def test_outliers_lie_beyond_the_fences():
    readings = [10, 11, 12, 13, 14]
    assert rolling_report([*readings, 16], 6)[0][-1] == (5, 25, 6, 5, False)
    assert rolling_report([*readings, 17], 6)[0][-1][-1] is True
    assert rolling_report([*readings, 7], 6)[0][-1][-1] is False
