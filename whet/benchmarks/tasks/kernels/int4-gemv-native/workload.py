from array import array

sizes = [16, 128, 256, 512]


def make_input(size, rng):
    pairs = size + rng.randrange(8)
    weight = array("B", rng.randbytes(size * pairs))
    scale = array("f", [rng.uniform(0.01, 0.02) for _ in range(size)])
    x = array("f", [rng.uniform(-1.0, 1.0) for _ in range(2 * pairs)])
    return weight, scale, x, size, pairs
