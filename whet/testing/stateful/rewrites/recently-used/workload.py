sizes = [4, 16, 64]


def make_input(size, rng):
    return {"init": (rng.randrange(1, 4),), "args": ([rng.randrange(6) for _ in range(size)],), "kwargs": {}}
