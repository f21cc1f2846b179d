import numpy as np
import pytest
from target import column_links


def test_columns_that_go_together_and_against_each_other():
    table = np.array([[1.0, 2.0, 9.0], [2.0, 4.0, 8.0], [3.0, 6.0, 7.0]])
    links, left_out = column_links(table, ["a", "b", "c"], 3)
    assert left_out == 0
    assert links[("a", "b")] == (pytest.approx(1.0), 3)
    assert links[("a", "c")] == (pytest.approx(-1.0), 3)
    assert list(links) == [("a", "b"), ("a", "c"), ("b", "c")]


def test_only_rows_where_both_are_known_count():
    nan = float("nan")
    table = np.array([[1.0, 1.0], [nan, 50.0], [2.0, 1.0], [3.0, 4.0], [9.0, nan]])
    r, rows = column_links(table, ["a", "b"], 3)[0][("a", "b")]
    assert (r, rows) == (pytest.approx(0.8660254), 3)


def test_a_column_that_does_not_vary_is_linked_to_nothing():
    table = np.array([[1.0, 2.0], [2.0, 2.0], [3.0, 2.0]])
    assert column_links(table, ["a", "b"], 0) == ({("a", "b"): (0.0, 3)}, 0)


def test_two_rows_are_too_few():
    assert column_links(np.array([[1.0, 2.0], [2.0, 5.0]]), ["a", "b"], 2) == ({("a", "b"): (0.0, 2)}, 0)
    assert column_links(np.array([[1.0, 2.0], [2.0, 5.0]]), ["a", "b"], 3) == ({}, 1)
