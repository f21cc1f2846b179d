"""A cash book: amounts, a running balance and sums of it."""

sizes = [0, 1, 4, 12, 20, 34, 42]


def make_input(size, rng):
    cells = {}
    for row in range(1, size + 1):
        cells[f"A{row}"] = rng.choice(("rent", "food", "wages", "travel", "Übertrag"))
        cells[f"B{row}"] = rng.randrange(-900, 1000)
        cells[f"C{row}"] = f"=C{row - 1}+B{row}" if row > 1 else "=B1"
        if rng.random() < 0.3:
            cells[f"D{row}"] = f"=B{row}*{rng.randrange(2, 20)}-{rng.randrange(100)}"
        if row % 12 == 0:
            cells[f"E{row}"] = f"=SUM(B{row - 11}:B{row})"
    cells[f"F{size + 1}"] = f"=SUM(E1:E{size + 1}) + C{size}"
    return {"init": (cells,), "args": ()}


def valid(args):
    cells = args["init"][0]
    texts = [text for text in cells.values() if isinstance(text, str)]
    return all(text.isascii() or not text.startswith("=") for text in texts) and all(len(text) < 60 for text in texts)


def check(args, output):
    found, errors, summary = output
    assert list(found) == list(args["init"][0])
    assert len(errors) == sum(value == "#ERROR" for value in found.values())
    assert sum(count for count, _, _ in summary.values()) == sum(isinstance(value, int) for value in found.values())


def make_input_odd(size, rng):
    """Cells that need each other, formulas that cannot be read, stretches of two columns, backwards or of nothing."""
    names = [f"{rng.choice('AB')}{number}" for number in range(1, min(size, 9) + 1)]
    cells = {}
    for name in names:
        one, other = rng.choice((*names, "Z9")), rng.choice((*names, "AA1"))
        last = f"{rng.choice('AB')}{rng.randrange(1, 6)}"
        cells[name] = rng.choice((
            rng.randrange(-9, 10), 0, "", "text", "#ERROR", f"={one}", f"={one}+{other}", f"= {one} * 3 - {other}",
            f"={one}-1+2*2", f"=SUM({one}:{last})", f"=2*SUM({last}:{one})", f"=SUM(A1:A5)+{other}", "=", f"=-{one}",
            f"={one}+", f"={one} {other}", "=7", f"={one}++1", "=a1", "=SUM(A1)", f"={one}*", "=1 2 3", "=+ +",
        ))  # fmt: skip
    if cells:
        cells[rng.choice(("1A2", "12", "9", "7B"))] = rng.choice((3, -8, "x"))
    return {"init": (cells,), "args": ()}


def make_input_forward(size, rng):
    """Chains whose cells come in any order; each is needed by one other or by a sum."""
    order = list(range(1, min(size, 15) + 1))
    cells = {f"C{row}": f"=C{row + 1}-B{row}*{rng.randrange(1, 4)}" for row in order[:-1]}
    cells |= {f"B{row}": rng.randrange(-5, 6) for row in order}
    if order:
        cells[f"C{order[-1]}"] = rng.choice((4, "=B1", "=C1", "x", "=SUM(B1:B3)"))
        cells["D1"] = f"=SUM(C1:C{rng.choice(order)})"
    items = list(cells.items())
    rng.shuffle(items)
    return {"init": (dict(items),), "args": ()}
