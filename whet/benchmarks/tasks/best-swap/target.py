"""Finds the best move of a game in which three or more equal gems in a row vanish."""

import copy

EMPTY = 0


def find_matches(board):
    """Returns the cells that belong to three or more equal gems in a row or column."""
    matched = []
    for r in range(len(board)):
        for c in range(len(board[r])):
            gem = board[r][c]
            if gem == EMPTY:
                continue
            for dr, dc in [(0, 1), (1, 0)]:
                run = [(r, c)]
                while True:
                    nr, nc = run[-1][0] + dr, run[-1][1] + dc
                    if nr >= len(board) or nc >= len(board[nr]) or board[nr][nc] != gem:
                        break
                    run.append((nr, nc))
                if len(run) >= 3:
                    for cell in run:
                        if cell not in matched:
                            matched.append(cell)
    return matched


def drop(board):
    """Lets gems fall into the empty cells below them."""
    for c in range(len(board[0])):
        column = [board[r][c] for r in range(len(board)) if board[r][c] != EMPTY]
        column = [EMPTY] * (len(board) - len(column)) + column
        for r in range(len(board)):
            board[r][c] = column[r]


def play(board):
    """Clears the board until nothing matches; returns the points: each round counts more than the one before."""
    points = 0
    factor = 1
    matched = find_matches(board)
    while len(matched) > 0:
        points += len(matched) * factor
        factor += 1
        for r, c in matched:
            board[r][c] = EMPTY
        drop(board)
        matched = find_matches(board)
    return points


def best_swap(board):
    """Tries all swaps of neighbours.

    Args:
        board: rows of equal length, of gems above 0; nothing on it matches yet, but that is not asked for.

    Returns:
        The points of the best swap, its two cells (the first of the best ones, row by row, right before down), and how
        many swaps bring points at all; no cells where none does.
    """
    best_points = 0
    best_cells = None
    useful = 0
    for r in range(len(board)):
        for c in range(len(board[0])):
            for nr, nc in [(r, c + 1), (r + 1, c)]:
                if nr >= len(board) or nc >= len(board[0]):
                    continue
                after = copy.deepcopy(board)
                after[r][c], after[nr][nc] = after[nr][nc], after[r][c]
                points = play(after)
                if points > 0:
                    useful += 1
                if points > best_points:
                    best_points = points
                    best_cells = ((r, c), (nr, nc))
    return best_points, best_cells, useful
