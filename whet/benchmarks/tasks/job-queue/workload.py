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


def make_input_odd(size, rng):
    """Jobs that come twice, commands about jobs that never came, blank lines, unknown commands, an empty queue."""
    ids = [f"j{number}" for number in range(max(2, size // 6))]
    kinds = ("add", "add", "urgent", "cancel", "print", "print", "status", "status", "pause", "")
    drained = rng.random() < 0.5
    lines = []
    for _ in range(size):
        kind = "print" if drained and rng.random() < 0.2 else rng.choice(kinds)
        more = f" {rng.choice((0, 1, 2, 39, -1))}" if kind in ("add", "urgent") else ""
        space = rng.choice((" ", " ", "  ", "\t"))
        lines.append(kind if kind in ("print", "") else f"{kind}{space}{rng.choice(ids)}{more}{rng.choice(('', ' x'))}")
    return "\n".join(lines) + rng.choice(("", "\n", "\n\n", "\n  \n"))
