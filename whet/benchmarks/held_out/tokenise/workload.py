"""Programs in a small language."""

sizes = [0, 1, 3, 12, 60, 130, 170]

NAMES = ["total", "index", "lines", "read_all", "x1", "y", "_tmp", "Widget", "forward", "iff"]
LINES = [
    "let {a} = {n} + {b} * ({n} - {c});",
    "if {a} >= {n} && {b} != nil {{ return {c}[{n}]; }}",
    'print("{a}: ", {b}, "\\n");  # shows {c}',
    "while not {a}.empty() {{ {b} += {c}.next(); }}",
    "fn {a}({b}, {c}) -> {{",
    "}} else {{",
    "# {a} and {b} are the same here",
    "{a} <<= {n}; {b} = {f};",
    "",
]


def make_input(size, rng):
    lines = []
    for _ in range(size):
        a, b, c = rng.choices(NAMES, k=3)
        text = rng.choice(LINES).format(a=a, b=b, c=c, n=rng.randrange(1000), f=rng.random())
        lines.append("    " * rng.randrange(3) + text)
    return ("\n".join(lines) + "\n",)


def check(args, output):
    lines = args[0].split("\n")
    for kind, text, line, column in output:
        assert lines[line - 1][column - 1 :].startswith('"' if kind == "string" else text)


def make_input_odd(size, rng):
    """Tokens without blanks between them, escapes, other line ends, strings that do not end, what begins no token."""
    pieces = ["<", "<<", "=", "-", ">", "!", "&&", "|", "1", "1.", ".5", "2.50", "a1", "é", '"', '"a"', '"\\n"', '"\\q"']
    pieces += ['"\\\\"', '"\\""', "#", "# x", "\n", "\r\n", "\t", " ", "if", "iffy", "\x0b", "\u00a0", "\\", "٣"]
    share = rng.choice((0.0, 0.0, 0.1))
    good = [piece for piece in pieces if piece not in ("|", "é", '"', "\x0b", "\u00a0", "\\", "٣")]
    return ("".join(rng.choice(pieces if rng.random() < share else good) for _ in range(4 * size)),)
