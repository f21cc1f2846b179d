sizes = [5, 50, 500]


def make_input(size, rng):
    return "".join(f"{rng.choice(('in', 'out'))} {rng.randrange(99)}\n" for _ in range(size))
