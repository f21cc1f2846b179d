sizes = [4, 40, 400]


def make_input(size, rng):
    return (iter([rng.randrange(99) for _ in range(size)]), rng.randrange(size + 2))
