"""Bytes of a scanned page: long runs of paper and ink with grey between; and bytes that are all alike, or evenly spread."""

sizes = [64, 1000, 16384, 131072]


def make_input(size, rng):
    data = bytearray()
    while len(data) < size:
        shade = rng.choice((255, 254, 253, 0, rng.randrange(256)))
        data += bytes([shade]) * rng.randrange(1, 40)
    return bytes(data[:size]), size


def make_input_even(size, rng):
    return rng.randbytes(size), size


def make_input_odd(size, rng):
    """One value, two values by turns, or each value in its turn."""
    pattern = rng.choice((bytes([rng.randrange(256)]), b"\x00\xff", bytes(range(256))))
    return (pattern * (size // len(pattern) + 1))[:size], size


def valid(args):
    """Any bytes may come."""
    return True
