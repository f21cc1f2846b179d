"""Some months of a warehouse with some dozens of articles."""

sizes = [0, 1, 5, 20, 60, 120, 150]


def make_input(size, rng):
    items = [f"item-{number:03d}" for number in range(size // 12 + 3)]
    lots = [(rng.choice(items), f"L{rng.randrange(10**4):04d}", rng.randrange(5, 60), rng.randrange(10, 90)) for _ in range(size)]
    movements = []
    day = 0
    for number in range(size):
        day += rng.random() < 0.3
        item = rng.choice(items)
        if rng.random() < 0.35:
            movements.append(("in", day, item, rng.randrange(5, 60), f"L{rng.randrange(10**4):04d}", day + rng.randrange(5, 80)))
        else:
            movements.append(("out", day, item, rng.randrange(1, 70), f"customer-{number % 17}"))
    return {"init": (lots,), "args": (movements,)}


def valid(args):
    return all(len(movement) == (6 if movement[0] == "in" else 5) for movement in args["args"][0] if movement[0] in ("in", "out"))


def check(args, output):
    shipped, refused = output
    assert len(shipped) + len(refused) == sum(movement[0] == "out" for movement in args["args"][0])
    assert all(lacking > 0 for _, _, lacking in refused)


def make_input_odd(size, rng):
    """Lots of one name, of nothing or less, that expire on the day; orders of nothing, of all there is, and one more."""
    items = ["a", "b", "ä"][: rng.randrange(1, 4)]
    lots = [(rng.choice(items), rng.choice("xyz"), rng.choice((0, 1, 2, 5, -3)), rng.randrange(0, 4)) for _ in range(size)]
    movements = []
    for _ in range(size):
        item, day = rng.choice((*items, "none")), rng.randrange(0, 5)
        if rng.random() < 0.3:
            movements.append(("in", day, item, rng.choice((0, 1, 3, -1)), rng.choice("xyz"), rng.randrange(0, 5)))
        else:
            movements.append(("out", day, item, rng.choice((0, 1, 2, 3, 7, -2)), rng.choice(("c", "d", ""))))
    if movements and rng.random() < 0.15:
        movements[rng.randrange(len(movements))] = (rng.choice(("move", "", "In")), 0, "a", 1, "c")
    return {"init": (lots,), "args": (movements,)}
