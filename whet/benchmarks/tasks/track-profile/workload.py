"""Hikes: points some metres apart, with rests where the same point comes again."""

sizes = [0, 1, 3, 10, 20, 30, 36]


def make_input(size, rng):
    lat, lon, height = rng.uniform(-60, 60), rng.uniform(-179, 179), rng.uniform(0, 2500)
    track = []
    while len(track) < size:
        track.append((lat, lon, height))
        if rng.random() < 0.1:
            continue
        lat += rng.uniform(-1e-4, 3e-4)
        lon += rng.uniform(-2e-4, 4e-4)
        height += rng.gauss(0.5, 4)
    return track, size // 2 + 1


def valid(args):
    track, steps = args
    sane = all(-90 <= lat <= 90 and -180 <= lon <= 180 and -500 <= up <= 9000 for lat, lon, up in track)
    return sane and steps <= 200 and all(abs(value) > 1e-6 for point in track for value in point)


def check(args, output):
    track, steps = args
    profile, climb, descent, steepest = output
    assert len(profile) == (steps + 1 if track and steps >= 1 else 0)
    assert climb >= 0 and descent >= 0 and steepest >= 0


def make_input_level(size, rng):
    """Tracks that go nowhere, back and forth, round the earth or along a slope; few steps, none, or more than points."""
    kind = rng.randrange(4)
    place = (rng.uniform(1, 50), rng.uniform(1, 50))
    track = []
    for number in range(size):
        if kind == 0:
            track.append((*place, rng.uniform(1, 100)))
        elif kind == 1:
            track.append((place[0] + number % 2, place[1], 100.0 + number % 2))
        elif kind == 2:
            track.append((rng.uniform(-89, 89), rng.uniform(-179, 179), rng.uniform(-400, 8000)))
        else:
            track.append((place[0] + number * 1e-3, place[1], 500.0 - 7.0 * number))
    return track, rng.choice((-1, 0, 1, 2, 3, 2 * size + 1))
