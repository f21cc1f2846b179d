sizes = [5, 20, 80]


def make_input(size, rng):
    return ([rng.randrange(99) for _ in range(size)],)
