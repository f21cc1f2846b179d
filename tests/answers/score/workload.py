sizes = [0, 1, 10, 100, 500, 1000]
def make_input(size, rng):
    voc = ["w%d" % i for i in range(size + 1)]
    return ([rng.choice(voc) for _ in range(size)], [rng.choice(voc) for _ in range(size // 2)])
