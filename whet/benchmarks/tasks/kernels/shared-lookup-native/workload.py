from array import array

sizes = [1, 16, 128, 512, 1024]


def make_input(size, rng):
    queries, width = 9, 32 + rng.randrange(8)
    shares = array("I", rng.randbytes(4 * queries * size))
    table = array("I", rng.randbytes(4 * size * width))
    return shares, table, queries, size, width
