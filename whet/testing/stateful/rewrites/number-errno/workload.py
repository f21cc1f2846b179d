sizes = [4, 12, 64]


def make_input(size, rng):
    text = bytes(rng.choices(b"0000000123456789", k=size))
    if size and rng.random() < 0.3:
        place = rng.randrange(size)
        text = text[:place] + b"-" + text[place + 1 :]
    return text, size
