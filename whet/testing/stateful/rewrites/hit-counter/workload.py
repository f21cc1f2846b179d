sizes = [10, 100, 1000]


def make_input(size, rng):
    return {"init": (rng.randrange(5),), "args": ([rng.randrange(5) for _ in range(size)],), "kwargs": {}}
