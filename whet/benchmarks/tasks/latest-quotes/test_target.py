from target import latest_quotes

QUOTES = [(10, "A", 99, 101), (20, "A", 98, 100), (15, "B", 5, 6), (20, "A", 97, 99)]


def test_a_trade_takes_the_latest_quote_of_its_symbol():
    joined, totals = latest_quotes([(19, "A", 7), (16, "B", 1)], QUOTES, 100)
    assert joined == [(19, "A", 7, 99, 101), (16, "B", 1, 5, 6)]
    assert totals == {"A": (1, 0, 9), "B": (1, 0, 1)}


def test_of_equal_times_the_last_counts_and_the_time_itself_is_not_too_late():
    assert latest_quotes([(20, "A", 7)], QUOTES, 0) == ([(20, "A", 7, 97, 99)], {"A": (1, 0, 0)})


def test_old_later_and_unknown_ones_are_none():
    joined, totals = latest_quotes([(9, "A", 1), (26, "B", 2), (20, "C", 3)], QUOTES, 10)
    assert [row[3:] for row in joined] == [(None, None)] * 3
    assert totals == {"A": (0, 1, 0), "B": (0, 1, 0), "C": (0, 1, 0)}
