import io

sizes = [5, 50, 500]


def make_input(size, rng):
    stream = io.BytesIO()
    stream.write(b"head;"[: rng.randrange(6)])
    return stream, [rng.randrange(-99, 999) for _ in range(size)]
