"""Grids of small whole numbers; half as many sweeps as the grid has rows."""

sizes = [4, 16, 300, 400]


def make_input(size, rng):
    side = max(2, size)
    rows = [" ".join(str(rng.randint(-50, 50)) for _ in range(side)) for _ in range(side)]
    return f"{side} {side // 2}\n" + "\n".join(rows) + "\n"
