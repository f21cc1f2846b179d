sizes = [10, 100, 1000]


def make_input(size, rng):
    return ([rng.choice("abcdefgh") for _ in range(size)],)
