"""The requests of some weeks; the centre is busy, so that many are moved."""

sizes = [0, 1, 5, 20, 80, 180, 220]


def make_input(size, rng):
    rooms = [(f"R{number}", rng.choice((4, 6, 8, 12, 20))) for number in range(6)]
    rng.shuffle(rooms)
    closing = 60 * (size // 3 + 2)
    requests = []
    for number in range(size):
        start = 5 * rng.randrange(closing // 5)
        length = rng.choice((30, 45, 60, 60, 90, 120, 240))
        requests.append((f"team-{rng.randrange(30)}", rng.randrange(1, 18), start, start + length))
    return {"init": (rooms, closing), "args": (requests,)}


def valid(args):
    rooms, closing = args["init"]
    return len({name for name, _ in rooms}) == len(rooms) and all(0 <= start <= 10**5 for _, _, start, _ in args["args"][0]) and closing <= 10**5


def check(args, output):
    closing = args["init"][1]
    assert len(output) == len(args["args"][0])
    for answer, (who, _, start, end) in zip(output, args["args"][0]):
        assert answer["who"] == who
        assert answer["room"] is None or (start <= answer["start"] and answer["start"] + end - start <= closing)


def make_input_tight(size, rng):
    """Bookings that touch, of no length or less, at closing, of too many people; rooms of one size, one room or none."""
    rooms = [(name, rng.choice((2, 2, 3, 0))) for name in rng.sample(["a", "b", "B", "ä", "c1", "c10"], rng.randrange(0, 5))]
    closing = rng.choice((0, 60, 75, 120, 200, 15 * size))
    requests = []
    for _ in range(size):
        start = rng.choice((0, 15, 30, 45, 60, 7, 14, 16, 31, closing))
        length = rng.choice((15, 15, 30, 1, 14, 16, 0, -15, 60, closing))
        requests.append((rng.choice("xyz"), rng.choice((0, 1, 2, 2, 3, 4, -1)), start, start + length))
    return {"init": (rooms, closing), "args": (requests,)}
