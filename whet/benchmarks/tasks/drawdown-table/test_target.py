import numpy as np
from target import drawdown_table


def test_no_days_give_an_empty_table():
    falls, rolling, stretches, below = drawdown_table(np.array([]), 3, 5)
    assert (len(falls), len(rolling), stretches, below) == (0, 0, [], 0.0)


def test_falls_are_shares_of_the_highest_close_so_far():
    falls, rolling, _, below = drawdown_table(np.array([10.0, 8.0, 9.0, 20.0, 10.0]), 2, 5)
    assert falls.tolist() == [0.0, -0.2, -0.1, 0.0, -0.5]
    assert rolling.tolist() == [0.0, -0.2, -0.2, -0.1, -0.5]
    assert below == 0.6


def test_the_deepest_stretches_come_first_and_an_open_one_ends_with_the_series():
    _, _, stretches, _ = drawdown_table(np.array([10.0, 9.0, 8.0, 10.0, 5.0]), 1, 5)
    assert stretches == [(4, 4, 5, -0.5), (1, 2, 3, -0.2)]


def test_only_so_many_stretches_are_told():
    assert len(drawdown_table(np.array([2.0, 1.0, 2.0, 1.0]), 1, 1)[2]) == 1
