"""Hills and valleys."""

sizes = [0, 1, 3, 10, 30, 70, 90]


def make_input(size, rng):
    rows, cols = size, size + rng.randrange(3) if size else 0
    hills = [(rng.uniform(0, size), rng.uniform(0, size), rng.uniform(2, size + 3), rng.randrange(-300, 900)) for _ in range(8)]
    lines = []
    for r in range(rows):
        row = []
        for c in range(cols):
            height = 100 + rng.randrange(-9, 10)
            for y, x, wide, high in hills:
                away = ((r - y) ** 2 + (c - x) ** 2) / (wide * wide)
                if away < 4:
                    height += int(high / (1 + 3 * away))
            row.append(str(height))
        lines.append(" ".join(row))
    return "\n".join([f"{rows} {cols} {rng.randrange(6, 9)}", *lines]) + "\n"


def make_input_flat(size, rng):
    """Few different heights, plateaus, negative ones, narrow maps, no reach and one beyond all edges."""
    rows, cols = rng.choice(((size, size), (1, size), (size, 1), (size, 3), (2, size)))
    pool = rng.choice(((0,), (0, 1), (-1, 0), (-7, -3, 2, 5), tuple(range(-40, 40)), (-(10**9), 10**9, 3)))
    lines = [" ".join(str(rng.choice(pool)) for _ in range(cols)) for _ in range(rows)]
    return "\n".join([f"{rows} {cols} {rng.choice((0, 1, 1, 2, 3, size + 1))}", *lines]) + "\n"
