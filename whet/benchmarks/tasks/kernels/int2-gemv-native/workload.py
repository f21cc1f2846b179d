from array import array

sizes = [4, 32, 256, 512]


def make_input(size, rng):
    groups = 1 + size // 64 + rng.randrange(3)
    weight = array("B", rng.randbytes(16 * size * groups))
    scale = array("f", [rng.uniform(0.01, 0.02) for _ in range(size * groups)])
    x = array("f", [rng.uniform(-1.0, 1.0) for _ in range(64 * groups)])
    return weight, scale, x, size, groups
