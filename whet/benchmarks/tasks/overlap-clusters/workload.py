"""Labels of a map, in heaps here and there."""

sizes = [0, 1, 3, 20, 300, 1200, 1600]


def make_input(size, rng):
    reach = 40 * int(size**0.5) + 10
    heaps = [(rng.randrange(-reach, reach), rng.randrange(-reach, reach)) for _ in range(size // 5 + 1)]
    lines = []
    for _ in range(size):
        x, y = rng.choice(heaps)
        left, lower = x + int(rng.gauss(0, 40)), y + int(rng.gauss(0, 40))
        lines.append(f"{left} {lower} {left + rng.randrange(5, 40)} {lower + rng.randrange(3, 12)}")
    return "\n".join([str(size), *lines]) + "\n"


def make_input_odd(size, rng):
    """Rectangles that touch, are equal, lie within others, are chained, or have no area or less; and too few of them."""
    lines = []
    chained = rng.random() < 0.3
    numbers = list(range(size))
    rng.shuffle(numbers)
    for number in numbers:
        if chained:
            left, lower, right, upper = 2 * number, number % 2, 2 * number + rng.choice((2, 3, 3, 3)), 5
        else:
            span = max(4, int(size**0.5) * 4)
            left, lower = rng.randrange(-span, span), rng.randrange(-3, 4)
            right, upper = left + rng.choice((0, 1, 1, 2, 2, 3, -1)), lower + rng.choice((0, 1, 1, 2, -1))
        lines.append(f"{left} {lower} {right} {upper}")
    if lines and rng.random() < 0.1:
        lines[rng.randrange(len(lines))] = rng.choice(("", "x", "1 2 3"))
    return "\n".join([rng.choice((str(size), str(size), str(size), f" {size} ", "")), *lines]) + "\n"
