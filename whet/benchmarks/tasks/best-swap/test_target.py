from target import best_swap


def test_a_board_without_a_move():
    assert best_swap([]) == (0, None, 0)
    assert best_swap([[1, 2], [3, 4]]) == (0, None, 0)


def test_a_swap_that_makes_three():
    assert best_swap([[1, 1, 2, 1]]) == (3, ((0, 2), (0, 3)), 1)


def test_the_first_of_equal_swaps_is_taken():
    assert best_swap([[1, 1, 2, 1, 1]]) == (3, ((0, 1), (0, 2)), 2)


def test_later_rounds_count_more():
    board = [[2], [2], [1], [1], [2], [1]]
    assert best_swap(board) == (9, ((4, 0), (5, 0)), 1)


def test_the_board_is_left_alone():
    board = [[1, 1, 2, 1]]
    best_swap(board)
    assert board == [[1, 1, 2, 1]]
