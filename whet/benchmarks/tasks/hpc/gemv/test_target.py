import numpy as np
from target import gemv


def test_a_product_and_a_vector_are_weighted():
    a = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    result = gemv(2.0, a, np.array([1.0, 0.0, -1.0]), 10.0, np.array([1.0, 2.0]))
    assert result.tolist() == [6.0, 16.0]


def test_the_given_vector_stays():
    y = np.array([1.0])
    gemv(1.0, np.array([[1.0]]), np.array([1.0]), 1.0, y)
    assert y.tolist() == [1.0]


def test_without_columns_only_the_vector_is_left():
    assert gemv(1.0, np.zeros((2, 0)), np.zeros(0), 3.0, np.array([1.0, 2.0])).tolist() == [3.0, 6.0]
