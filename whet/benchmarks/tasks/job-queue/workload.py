"""Commands for a printer; the more there are, the more jobs are done and cancelled."""

sizes = [0, 1, 10, 200, 2000, 9000, 12000]


def make_input(size, rng):
    lines = []
    ids = []
    for number in range(size):
        chance = rng.random()
        if chance < 0.35 or not ids:
            ids.append(f"job-{rng.randrange(10**4)}-{number}")
            kind = "urgent" if rng.random() < 0.1 else "add"
            lines.append(f"{kind} {ids[-1]} {rng.randrange(1, 40)}")
        elif chance < 0.6:
            lines.append("print")
        elif chance < 0.75:
            lines.append(f"cancel {rng.choice(ids)}")
        else:
            lines.append(f"status {rng.choice(ids)}")
    return "\n".join(lines) + ("\n" if lines else "")
