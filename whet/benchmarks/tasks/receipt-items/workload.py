"""Receipts of a shop: half of the names are misread, some beyond recognition."""

sizes = [0, 1, 3, 6, 9, 12, 15]

SYLLABLES = ("ba", "nan", "to", "ma", "ro", "kä", "sen", "brot", "mil", "ch", "öl", "sal", "zi", "tro", "ne")


def make_input(size, rng):
    names = {"".join(rng.choices(SYLLABLES, k=rng.randrange(2, 4))).title() for _ in range(2 * size + 4)}
    articles = [(name, rng.randrange(500)) for name in sorted(names)]
    rng.shuffle(articles)
    lines = []
    for _ in range(size):
        name = rng.choice(articles)[0]
        if rng.random() < 0.5:
            for _ in range(rng.choice((1, 1, 2, 3))):
                at = rng.randrange(len(name) + 1)
                name = name[:at] + rng.choice(("", "i", "l", "o", "0")) + name[at + rng.randrange(2) :]
        lines.append(f"{name};{rng.randrange(20, 2000)}" if rng.random() > 0.05 else "------")
    return {"init": (articles,), "args": (lines,)}


def check(args, output):
    found, totals = output
    assert len(found) <= len(args["args"][0])
    assert sum(totals.values()) == sum(cents for name, _, cents in found if name is not None)


def make_input_odd(size, rng):
    """Short names that are near to many, equal ones with equal sales, blanks, large letters and lines that are none."""
    pieces = ("a", "b", "A", " ", "é", "ß", "ab", "İ")
    names = ["".join(rng.choices(pieces, k=rng.randrange(0, 6))) for _ in range(rng.randrange(0, size + 3))]
    articles = [(name, rng.choice((0, 0, 1, 5))) for name in names]
    lines = []
    for _ in range(size):
        name = rng.choice((*names, "", "  a  B", "aabbaa", "B b"))
        if rng.random() < 0.5:
            name = name[: rng.randrange(len(name) + 1)] + rng.choice(("", "b", "x", " ")) + name[rng.randrange(len(name) + 1) :]
        cents = rng.choice(("0", "7", " 30 ", "007", "", "x", "-5", "1.5", "٣", "²"))
        lines.append(name + rng.choice((";", ";", ";", ";", ";", "", ";;")) + cents)
    return {"init": (articles,), "args": (lines,)}
