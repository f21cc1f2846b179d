"""Numbers of mixed sizes in their short form, and streams that are cut, too long, or no proper numbers at all."""

sizes = [20, 500, 16384, 131072]


def _coded(number):
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes(out) + bytes([number])


def make_input(size, rng):
    data = bytearray()
    while len(data) < size:
        data += _coded(rng.getrandbits(rng.choice((5, 7, 7, 10, 14, 20, 28))))
    return bytes(data[:size]), size


def make_input_odd(size, rng):
    """Random bytes, small numbers only, the longest ones, groups without an end, and needless groups of nothing."""
    kind = rng.randrange(5)
    if kind == 0:
        data = rng.randbytes(size)
    elif kind == 1:
        data = bytes(rng.choices(range(128), k=size))
    elif kind == 2:
        data = b"".join(_coded(rng.getrandbits(64)) for _ in range(size))[:size]
    elif kind == 3:
        data = bytes(rng.choices((0x80, 0xFF, 0x81), (8, 8, 1), k=size))
    else:
        data = b"".join(rng.choice((b"\x80\x00", b"\x01", b"\xff" * rng.randrange(12) + b"\x7f")) for _ in range(size))[:size]
    return data, size


def valid(args):
    """Any bytes may come."""
    return True
