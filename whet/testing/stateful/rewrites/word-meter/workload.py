sizes = [8, 64, 512]


def make_input(size, rng):
    return bytes(rng.choices(b"abc  ", k=size)), size
