from array import array

sizes = [16, 256, 1024]


def make_input(size, rng):
    inputs = size + rng.randrange(8)
    weight = array("b", rng.randbytes(size * inputs))
    scale = array("f", [rng.uniform(0.001, 0.002) for _ in range(size)])
    x = array("f", [rng.uniform(-1.0, 1.0) for _ in range(inputs)])
    return weight, scale, x, size, inputs
