import numpy as np
from target import axpy


def test_a_vector_is_added_in_place():
    x, y = np.array([1.0, 2.0, 3.0]), np.array([10.0, 20.0, 30.0])
    axpy(2.0, x, y)
    assert y.tolist() == [12.0, 24.0, 36.0]
    assert x.tolist() == [1.0, 2.0, 3.0]


def test_the_largest_magnitude_of_the_sum_is_told():
    assert axpy(1.0, np.array([1.0, -9.0, 2.0]), np.array([1.0, 1.0, 1.0])) == 8.0
    assert axpy(-1.0, np.array([3.0, 0.0]), np.array([1.0, 1.0])) == 2.0


def test_no_elements_have_no_magnitude():
    assert axpy(1.0, np.array([]), np.array([])) == 0.0
