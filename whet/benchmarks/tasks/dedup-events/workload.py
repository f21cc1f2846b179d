"""Events of some hundred devices; about half of them are repeated."""

sizes = [0, 1, 10, 100, 600, 1800, 2600]

KINDS = ("door.opened", "door.closed", "battery.low", "link.up", "link.down", "motion")


def make_input(size, rng):
    sources = [f"device-{rng.randrange(10**6):06d}" for _ in range(size // 8 + 2)]
    keys = [f"{rng.getrandbits(40):010x}" for _ in range(size // 4 + 2)]
    events = []
    stamp = rng.randrange(1_600_000_000, 1_700_000_000)
    for _ in range(size):
        stamp += rng.randrange(5)
        if events and rng.random() < 0.4:
            events.append((stamp, *rng.choice(events)[1:]))
        else:
            events.append((stamp, rng.choice(sources), rng.choice(KINDS), rng.choice(keys)))
    muted = rng.sample(sources, len(sources) // 5) + [f"retired-{i}" for i in range(size // 20)]
    rng.shuffle(muted)
    return events, muted


def check(args, output):
    events, muted = args
    kept, counts = output
    assert len(kept) + counts["repeated"] + counts["muted"] == len(events)
    assert not {event[1] for event in kept} & set(muted)


def make_input_alike(size, rng):
    """Few names, the same ones for sources, kinds and keys, so that most events are repeated, muted or almost so."""
    names = ["", "a", "b", "ab", "A", "ä"][: rng.randrange(2, 7)]
    events = [(rng.randrange(-2, 3), *rng.choices(names, k=3)) for _ in range(size)]
    return events, rng.choices([*names, "other"], k=rng.randrange(4))
