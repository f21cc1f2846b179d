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
