"""Programs of many small routines that call each other."""

sizes = [0, 1, 4, 20, 200, 1300, 1700]


def make_input(size, rng):
    lines = []
    labels = [f"routine_{number:04d}" for number in range(size // 4 + 1)]
    names = [f"limit_{number}" for number in range(size // 20 + 1)]
    lines += [f"{name} = {rng.randrange(70000)} ; a constant" for name in names if size]
    for label in labels[:size]:
        lines.append(f"{label}:")
        for _ in range(rng.randrange(1, 4)):
            kind = rng.choice(("load", "store", "add", "sub", "cmp"))
            lines.append(f"        {kind} r{rng.randrange(8)}, {rng.choice(names)}      ; step {len(lines)} of it")
        if rng.random() < 0.5:
            lines.append(f"        call {rng.choice(labels)}")
        lines.append(rng.choice(("        ret", f"        jump {rng.choice(labels)}", "")))
    lines += [f"r{number} = {number}" for number in range(8) if size]
    return "\n".join([*lines, "        halt"]) + "\n"


def make_input_odd(size, rng):
    """Names that come twice, are not known or are numbers; signs out of place; lines of one, two, three and more words."""
    kinds = ("load", "store", "add", "sub", "cmp", "jump", "jzero", "call", "nop", "ret", "halt")
    words = ("a", "b", "_x", "load", "ADD", "ret", "7", "65536", "70000", "é", "²", "0", "b_1", "nop", "Halt", "aa", "cmp")
    gaps = (" ", " ", "\t", ", ", ",", "  ", " , ")
    lines = []
    for _ in range(size * 3 + 20 if size else 0):
        line = rng.choice(("", "", " ", "\t", ","))
        kind = rng.random()
        if kind < 0.25:
            line += rng.choice(words) + rng.choice((":", " :", "\t: "))
        elif kind < 0.45:
            line += f"{rng.choice(words)}{rng.choice((' = ', '=', ' ='))}{rng.choice((*words, '12', '-1', ''))}"
        else:
            line += rng.choice(gaps).join(rng.choice(rng.choice((words, kinds))) for _ in range(rng.choice((0, 1, 1, 2, 3, 3, 4, 5))))
        line += rng.choice(("", "", "", "", ";", " ; a: b", ";;", ":", "=", "\r", "+"))
        lines.append(line)
    return "\n".join(lines) + rng.choice(("", "\n", "\n\n"))
