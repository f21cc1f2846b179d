sizes = [8, 64, 512]


def make_input(size, rng):
    text = bytes(rng.choices(b"0123456789", k=size))
    if size and rng.random() < 0.5:
        place = rng.randrange(size)
        text = text[:place] + b"x" + text[place + 1 :]
    return text, size
