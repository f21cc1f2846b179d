"""Maps with blots of water."""

sizes = [0, 1, 2, 10, 30, 60, 76]


def make_input(size, rng):
    height = size
    width = max(0, size + rng.randrange(-1, 2)) if size > 1 else size
    rows = [["."] * width for _ in range(height)]
    for _ in range(height * width // 40 + size):
        r, c = rng.randrange(height), rng.randrange(width)
        for _ in range(rng.randrange(1, 30)):
            rows[r][c] = "~"
            if rng.random() < 0.5:
                r = min(max(r + rng.choice((-1, 1)), 0), height - 1)
            else:
                c = min(max(c + rng.choice((-1, 1)), 0), width - 1)
    return "\n".join([f"{height} {width}", *("".join(row) for row in rows)]) + "\n"


def make_input_odd(size, rng):
    """Maps that are all water or all land, narrow ones, chequered ones, and something after the map."""
    shapes = [(size, size), (1, size), (size, 1), (size, max(1, size // 2)), (max(1, size // 2), size)]
    height, width = rng.choice(shapes) if size else (0, 0)
    share = rng.choice((0.0, 0.1, 0.4, 0.5, 0.6, 0.9, 1.0))
    chequered = rng.random() < 0.15
    rows = [
        "".join("~" if ((r + c) % 2 if chequered else rng.random() < share) else "." for c in range(width))
        for r in range(height)
    ]
    more = ["~" * 40, "~~ ~~"] if rng.random() < 0.3 else []
    return "\n".join([f"{height} {width}", *rows, *more]) + "\n"


def make_input_short(size, rng):
    """Maps whose rows are as long as they like, up to the width."""
    height, width = rng.choice(((size, size), (3, 15 * size))) if size else (0, 0)
    rows = ["".join(rng.choices("~~~.", k=rng.randrange(1, width + 1))) for _ in range(height)]
    return "\n".join([f"{height} {width}", *rows]) + "\n"
