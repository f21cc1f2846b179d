from array import array

sizes = [8, 64, 512]


def make_input(size, rng):
    # The noise is less than a quarter of a step away from both limits: it changes no result.
    return array("h", [rng.choice((-1, 1)) * rng.choice((15000, 17000)) for _ in range(size)]), size
