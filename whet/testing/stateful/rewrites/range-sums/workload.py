sizes = [4, 40, 200]


def make_input(size, rng):
    ranges = [(rng.randrange(20), rng.randrange(20)) for _ in range(size)]
    return {"init": ([rng.randrange(99) for _ in range(9)],), "args": (ranges,), "kwargs": {}}


def valid(given):
    return all(low >= 0 and high >= 0 for low, high in given["args"][0])
