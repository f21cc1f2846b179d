import numpy as np
from target import Csr


def matrix(starts, columns, values):
    return Csr(np.array(starts), np.array(columns, dtype=int), np.array(values, dtype=float))


def test_rows_are_summed_over_their_entries():
    product, empty = matrix([0, 2, 3], [0, 2, 1], [1, 2, 3]).times(np.array([1.0, 10.0, 100.0]))
    assert (product.tolist(), empty) == ([201.0, 30.0], 0)


def test_rows_without_entries_are_zero_and_counted():
    product, empty = matrix([0, 0, 1, 1], [0], [5]).times(np.array([2.0]))
    assert (product.tolist(), empty) == ([0.0, 10.0, 0.0], 2)


def test_entries_of_one_place_are_added():
    assert matrix([0, 2], [0, 0], [1, 2]).times(np.array([4.0]))[0].tolist() == [12.0]


def test_a_matrix_without_rows():
    product, empty = matrix([0], [], []).times(np.array([1.0]))
    assert (product.tolist(), empty) == ([], 0)
