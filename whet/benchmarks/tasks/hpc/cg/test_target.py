import numpy as np
from target import conjugate_gradient

CHAIN = (np.array([0, 2, 5, 7]), np.array([0, 1, 0, 1, 2, 1, 2]), np.array([3.0, -1, -1, 3, -1, -1, 3]))


def test_as_many_iterations_as_unknowns_solve_a_system():
    x = conjugate_gradient(*CHAIN, np.array([2.0, 1.0, 2.0]), 3)
    assert np.allclose(x, [1.0, 1.0, 1.0], rtol=1e-12)


def test_an_iteration_goes_down_along_the_right_side():
    b = np.array([1.0, 0.0, 0.0])
    assert np.allclose(conjugate_gradient(*CHAIN, b, 1), b / 3)
    assert b.tolist() == [1.0, 0.0, 0.0]


def test_nothing_is_left_to_correct_where_the_right_side_is_zero():
    assert conjugate_gradient(*CHAIN, np.zeros(3), 5).tolist() == [0.0, 0.0, 0.0]


def test_no_iterations_leave_zero():
    assert conjugate_gradient(*CHAIN, np.ones(3), 0).tolist() == [0.0, 0.0, 0.0]
