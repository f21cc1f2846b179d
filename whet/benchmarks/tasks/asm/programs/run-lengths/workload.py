"""Texts with long and short runs; the largest reach over several blocks of the program."""

sizes = [0, 1, 30, 5000, 20000]


def make_input(size, rng):
    text = []
    left = size
    while left > 0:
        run = min(left, rng.choice((1, 1, 2, 3, 9, 40, 700)))
        text.append(rng.choice("aabcxyz019 \t\n\n-") * run)
        left -= run
    return "".join(text)
