from array import array

sizes = [0, 1, 32, 512, 4096]


def make_input(size, rng):
    codes = array("B", rng.randbytes(16 * size))
    exponents = array("B", [rng.randrange(100, 151) for _ in range(size)])
    return codes, exponents, size
