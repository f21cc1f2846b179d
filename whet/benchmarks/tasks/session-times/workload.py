"""The log of some days, in the order in which several servers wrote it."""

sizes = [0, 1, 4, 30, 300, 900, 1300]

PAGES = ("/", "/cart", "/search?q=shoes", "/item/4711", "/item/12/", "/help#returns", "/über/uns", "/login?next=/cart")


def make_input(size, rng):
    users = [f"user{rng.getrandbits(24):06x}" for _ in range(size // 12 + 2)]
    clock = {user: 1_700_000_000 + rng.randrange(90_000) for user in users}
    lines = []
    for _ in range(size):
        user = rng.choice(users)
        clock[user] += rng.choice((2, 9, 40, 200, 1500, 2400, 9000))
        page = rng.choice(PAGES) if rng.random() < 0.7 else f"/item/{rng.randrange(500)}?from={rng.choice(PAGES[:3])}"
        lines.append(f"{clock[user]} {user} {page}")
        if rng.random() < 0.02:
            lines.append("-- log rotated --")
    if rng.random() < 0.5:
        half = len(lines) // 2
        lines = lines[half:] + lines[:half]
    return "\n".join(lines) + "\n"


def make_input_odd(size, rng):
    """Equal times, gaps right at the limit, names that are hardly different, lines of too few and too many words."""
    lines = []
    for _ in range(size + 20 if size else 0):
        time = rng.choice((0, 1, 1799, 1800, 1801, 3600, 3601, 5402, 7203, "007", "12a", "-5", "999999999999", "1000000000000", "1.5"))
        page = rng.choice(("/", "//", "/a", "/a/", "/a//", "/a?b", "?", "#", "a#b?c", "/a/b", "/ä", "/?", "///", "/a/?/"))
        words = [str(time), rng.choice(("u", "U", "u1", "u10", "ü", "1")), page]
        chance = rng.random()
        if chance < 0.05:
            words.pop(rng.randrange(3))
        elif chance < 0.1:
            words.append(rng.choice(("x", "7")))
        gap = rng.choice((" ", " ", "  ", "\t"))
        lines.append(rng.choice(("", "", " ")) + gap.join(words) + rng.choice(("", "", " ", "\r")))
        if rng.random() < 0.05:
            lines.append("")
    return "\n".join(lines) + rng.choice(("", "\n"))
