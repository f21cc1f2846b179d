"""Finds the best move of a game in which three or more equal gems in a row vanish."""

EMPTY = 0


def find_matches(board):
    matched = set()
    for r, row in enumerate(board):
        for c in _runs(row):
            matched.add((r, c))
    for c, column in enumerate(zip(*board)):
        for r in _runs(column):
            matched.add((r, c))
    return matched


def _runs(line):
    """Returns the places of a line that belong to three or more equal gems."""
    places = []
    for at in range(2, len(line)):
        gem = line[at]
        if gem != EMPTY and gem == line[at - 1] == line[at - 2]:
            places += (at - 2, at - 1, at)
    return places


def drop(board):
    columns = []
    for column in zip(*board):
        kept = [gem for gem in column if gem != EMPTY]
        columns.append([EMPTY] * (len(board) - len(kept)) + kept)
    board[:] = map(list, zip(*columns))


def play(board):
    points = 0
    factor = 1
    while matched := find_matches(board):
        points += len(matched) * factor
        factor += 1
        for r, c in matched:
            board[r][c] = EMPTY
        drop(board)
    return points


def matches_at(board, r, c):
    """Tells whether the gem of a cell is one of three or more."""
    gem = board[r][c]
    if gem == EMPTY:
        return False
    row = board[r]
    left = right = c
    while left and row[left - 1] == gem:
        left -= 1
    while right + 1 < len(row) and row[right + 1] == gem:
        right += 1
    top = bottom = r
    while top and board[top - 1][c] == gem:
        top -= 1
    while bottom + 1 < len(board) and board[bottom + 1][c] == gem:
        bottom += 1
    return right - left >= 2 or bottom - top >= 2


def best_swap(board):
    best_points = 0
    best_cells = None
    useful = 0
    if not board:
        return best_points, best_cells, useful
    height, width = len(board), len(board[0])
    board = [list(row) for row in board]
    settled = not find_matches(board)
    for r in range(height):
        for c in range(width):
            for nr, nc in ((r, c + 1), (r + 1, c)):
                if nr >= height or nc >= width or (settled and board[r][c] == board[nr][nc]):
                    continue
                board[r][c], board[nr][nc] = board[nr][nc], board[r][c]
                if not settled or matches_at(board, r, c) or matches_at(board, nr, nc):
                    points = play([row[:] for row in board])
                    useful += points > 0
                    if points > best_points:
                        best_points = points
                        best_cells = ((r, c), (nr, nc))
                board[r][c], board[nr][nc] = board[nr][nc], board[r][c]
    return best_points, best_cells, useful
