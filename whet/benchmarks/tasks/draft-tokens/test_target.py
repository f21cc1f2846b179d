import numpy as np
from target import accept_drafts


def accepted(drafts, small, large, draws):
    return accept_drafts(np.array(drafts), np.array(small), np.array(large), np.array(draws))


def test_where_the_models_agree_all_are_taken_and_one_is_added():
    even = [0.5, 0.5]
    assert accepted([[0, 1]], [[even, even]], [[even, even, even]], [[0.9, 0.9, 0.7]]) == ([[0, 1, 1]], 2)


def test_the_first_refused_one_ends_the_text_and_is_drawn_anew_from_the_difference():
    small, large = [[[0.8, 0.1, 0.1], [0.0, 1.0, 0.0]]], [[[0.2, 0.2, 0.6], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]]
    assert accepted([[0, 1]], small, large, [[0.3, 0.0, 0.1]]) == ([[1]], 0)
    assert accepted([[0, 1]], small, large, [[0.3, 0.0, 0.2]]) == ([[2]], 0)
    assert accepted([[0, 1]], small, large, [[0.2, 0.0, 0.0]]) == ([[0, 1, 0]], 2)


def test_what_nothing_is_left_of_is_the_last_token():
    assert accepted([[0]], [[[1.0, 0.0]]], [[[0.0, 0.0], [1.0, 0.0]]], [[0.5, 0.5]]) == ([[1]], 0)
