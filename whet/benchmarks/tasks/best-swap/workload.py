"""Boards on which nothing matches yet."""

sizes = [0, 1, 2, 4, 6, 8, 9]


def make_input(size, rng):
    kinds = 6
    board = [[0] * size for _ in range(size)]
    for r in range(size):
        for c in range(size):
            barred = set()
            if c > 1 and board[r][c - 1] == board[r][c - 2]:
                barred.add(board[r][c - 1])
            if r > 1 and board[r - 1][c] == board[r - 2][c]:
                barred.add(board[r - 1][c])
            board[r][c] = rng.choice([gem for gem in range(1, kinds + 1) if gem not in barred])
    return (board,)


def valid(args):
    board = args[0]
    even = len({len(row) for row in board}) <= 1 and all(0 < len(row) <= 12 for row in board)
    return len(board) <= 12 and even and len({id(row) for row in board}) == len(board)


def make_input_odd(size, rng):
    """Narrow boards, boards of few gems, and boards with matches, holes and negative gems on them."""
    height, width = rng.choice(((size, size), (1, size), (size, 1), (size, 3), (3, size)))
    gems = rng.choice(((1, 2), (1, 2, 3), (1, 2, 3, 4), (0, 1, 2), (0, 1, 2, 3), (-1, 1, 2), (7,)))
    return ([[rng.choice(gems) for _ in range(width)] for _ in range(height)] if width else [],)
