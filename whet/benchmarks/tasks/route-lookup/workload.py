"""Routes of a site, then packets among which new routes come now and then."""

sizes = [0, 1, 4, 20, 100, 180, 240]


def address(rng, base):
    return ".".join(str(part) for part in (base, rng.randrange(4), rng.randrange(256), rng.randrange(256)))


def make_input(size, rng):
    lines = ["route 0.0.0.0/0 default"]
    for number in range(size):
        length = rng.choice((8, 12, 16, 20, 22, 24, 24, 26, 28))
        lines.append(f"route {address(rng, rng.choice((10, 172)))}/{length} gw{number % 40} {rng.randrange(1, 9)}")
    for number in range(size):
        lines.append(f"packet {address(rng, rng.choice((10, 10, 172, 192)))}")
        if rng.random() < 0.03:
            lines.append(f"route {address(rng, 10)}/{rng.randrange(8, 30)} new{number}")
    return "\n".join(lines) + "\n"


def make_input_odd(size, rng):
    """Few addresses with prefixes of all lengths, equal costs, routes given again, and lines that are almost right."""
    pool = ["0.0.0.0", "255.255.255.255", "10.0.0.1", "10.0.0.2", "10.0.1.0", "128.0.0.0", "127.255.255.255", "010.000.0.1", "10.1.0.0", "10.2.3.4", "10.3.0.0", "11.0.0.0"]
    broken = ("1.2.3", "1.2.3.4.5", "256.0.0.1", "0.256.0.0", "0.0.256.0", "0.0.0.256", "a.b.c.d", "1.2.3.4x", "", "-1.0.0.0")
    lines = []
    for _ in range(size * 2 + 20 if size else 0):
        chance = rng.random()
        place = rng.choice(pool) if chance < 0.92 else rng.choice(broken)
        if rng.random() < 0.45:
            length = rng.choice((0, 1, 8, 16, 23, 24, 30, 31, 32, 32, 33, "", "x", "08", "-1", "8x")) if chance < 0.3 else rng.randrange(33)
            slash = "/" if rng.random() < 0.97 else rng.choice((" ", ""))
            cost = rng.choice(("", " 1", " 1", " 2", " 0", " -3", " x", " 2 9"))
            lines.append(f"route {place}{slash}{length} {rng.choice(('a', 'b', 'c', 'A'))}{cost}")
        else:
            lines.append(f"packet {place}{rng.choice(('', '', '', ' now'))}")
        if rng.random() < 0.08:
            lines.append(rng.choice(("", " ", "route", "packet", "pack 1.2.3.4", " packet 10.0.0.1", "\t", "route 1.2.3.4/8", "# x")))
    return "\n".join(lines) + rng.choice(("", "\n"))
