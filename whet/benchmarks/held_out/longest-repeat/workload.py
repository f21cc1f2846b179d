"""Reports that were put together from one another."""

sizes = [0, 1, 10, 60, 800, 1600, 2000]

PARTS = ["ba", "re", "ti", "on", "sta", "men", "lo", "ve", "gra", "in"]


def make_input(size, rng):
    known = ["".join(rng.choices(PARTS, k=rng.randrange(1, 5))) for _ in range(300)]
    words = rng.choices(known, k=size)
    if size > 20:
        at, to = rng.randrange(size // 3), rng.randrange(size // 2, size - 10)
        words[to : to + 12] = words[at : at + 12]
    for at in range(12, len(words), 13):
        words[at] += "\n"
    return " ".join(words) + "\n"


def make_input_odd(size, rng):
    """Texts of one letter, of few, without any repeated; repeats that overlap or are equally long; bytes of all kinds."""
    letters = rng.choice(("a", "ab", "a ", "abc", "é ü", "\t \na"))
    text = "".join(rng.choices(letters, k=rng.randrange(min(size, 300) + 1)))
    kind = rng.random()
    if kind < 0.15:
        text = "".join(rng.sample("abcdefghijklmnopqrstuvwxyz .", rng.randrange(28)))
    elif kind < 0.3:
        text = text[:40] * rng.randrange(1, 5)
    return text + rng.choice(("", "\n", " \n\n"))
