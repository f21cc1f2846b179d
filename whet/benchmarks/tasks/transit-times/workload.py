"""Towns with lines of some stops that cross at others; a few lines are cut off."""

sizes = [0, 1, 4, 12, 40, 60, 80]


def make_input(size, rng):
    stops = [f"{rng.choice('NESW')}{number:03d}" for number in range(size // 2 + 2)]
    links = []
    number = 0
    while len(links) < size:
        number += 1
        cut_off = number % 7 == 0
        length = min(size - len(links), rng.randrange(4, 12))
        way = [f"X{number}-{i}" for i in range(length + 1)] if cut_off else rng.sample(stops, min(len(stops), length + 1))
        for one, other in zip(way, way[1:]):
            links.append((one, other, f"L{number}", rng.randrange(1, 9)))
    return {"init": (links,), "args": (links[0][0] if links else "N000", rng.randrange(2, 8))}


def valid(args):
    links = args["init"][0]
    start, change = args["args"]
    return change >= 0 and all(minutes >= 0 and line for _, _, line, minutes in links)


def check(args, output):
    reached, others = output
    assert reached[args["args"][0]] == (0, None)
    assert not set(reached) & set(others)


def make_input_odd(size, rng):
    """Few stops with many links: from a stop to itself, twice, at no cost, by lines of many names; an unknown start."""
    stops = rng.sample(["a", "b", "c", "d", "ä", "", "B", "aa"], rng.randrange(2, 9))
    lines = ["1", "2", "10", "A"][: rng.randrange(1, 5)]
    links = []
    for _ in range(min(size, 40)):
        links.append((rng.choice(stops), rng.choice(stops), rng.choice(lines), rng.choice((0, 1, 1, 2, 3, 7))))
    return {"init": (links,), "args": (rng.choice([*stops, "nowhere"]), rng.choice((0, 0, 1, 2, 5)))}
