"""Some days of a workshop that has more to do than it can."""

sizes = [0, 1, 4, 30, 150, 700, 900]


def make_input(size, rng):
    lines = [str(rng.randrange(2, 5))]
    time = 0
    for number in range(size):
        time += rng.randrange(6)
        lines.append(f"order-{number:05d}/part-{rng.choice('ABCDEF')}-left-hand {time} {rng.randrange(3, 40)} {rng.randrange(1, 6)}")
    return "\n".join(lines) + "\n"


def make_input_odd(size, rng):
    """No machines, more machines than jobs; jobs of one time and priority, of no length, out of order; lines that are none."""
    lines = [rng.choice(("1", "2", str(size + 2), "0", "-1", "", "x", "3 4"))]
    for _ in range(min(size, 200)):
        numbers = rng.choice((0, 0, 5, 7, 100)), rng.choice((0, 1, 10)), rng.choice((-1, 0, 0, 3))
        line = f"{rng.choice(('a', 'b', 'é'))} {numbers[0]} {numbers[1]} {numbers[2]}"
        lines.append(rng.choice((line, line, line, line + " more", "", "a 1", " " + line.replace(" ", "\t"))))
    return rng.choice(("\n", "\r\n")).join(lines) + rng.choice(("", "\n"))
