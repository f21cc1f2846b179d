sizes = [10, 100, 1000]


def make_input(size, rng):
    return {"init": (), "args": ([rng.choice(("red", "green", "blue")) for _ in range(size)],), "kwargs": {}}
