sizes = [4, 40, 200]


def make_input(size, rng):
    ranges = [(rng.randrange(9), rng.randrange(9)) for _ in range(size)]
    return {"init": (), "args": (ranges,), "kwargs": {}}


def valid(given):
    return all(low >= 0 and high >= 0 for low, high in given["args"][0])
