"""Bytes with the one that is looked for near the end, and cases where it is early, repeated, or missing."""

sizes = [16, 256, 65536, 524288]


def make_input(size, rng):
    value = rng.randrange(256)
    data = bytearray(rng.randbytes(size).replace(bytes([value]), bytes([value ^ 1])))
    if size:
        data[size - 1 - rng.randrange(size // 16 + 1)] = value
    return bytes(data), size, value


def make_input_odd(size, rng):
    """Few different bytes, those of either sign, and the value anywhere, often, or not at all."""
    value = rng.choice((0, 1, 127, 128, 255))
    others = [other for other in (0, 1, 127, 128, 254, 255) if other != value]
    data = rng.choices(others, k=size)
    for _ in range(rng.choice((0, 1, 1, 2, 9)) if size else 0):
        data[rng.randrange(size)] = value
    return bytes(data), size, value


def valid(args):
    """Any bytes may come."""
    return True
