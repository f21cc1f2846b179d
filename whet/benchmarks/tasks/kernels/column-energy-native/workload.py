from array import array

sizes = [16, 256, 512]


def make_input(size, rng):
    columns = size + rng.randrange(8)
    x = array("f", [rng.uniform(-4.0, 4.0) for _ in range(size * columns)])
    return x, size, columns
