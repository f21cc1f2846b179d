sizes = [10, 100, 1000]


def make_input(size, rng):
    return {"init": (), "args": ([rng.randrange(-9, 99) for _ in range(size)],), "kwargs": {}}
