"""Lines of a file that was written without line breaks."""

sizes = [0, 1, 10, 100, 2000, 24000, 32000]

WORDS = ("Invoice", "TOTAL", "net", "Amount", "due", "2024-03-01", "EUR", "page", "4711", "Customer", "ref.", "No")


def make_input(size, rng):
    lines = []
    for _ in range(4):
        line = ""
        length = rng.randrange(size * 9 // 10, size + 1) if size else 0
        words = []
        while length > 0:
            word = rng.choice(WORDS) + rng.choice((" ", "  ", "\t", " \t ", ", "))
            words.append(word)
            length -= len(word)
        line = "".join(words)
        lines.append(line)
    return "\n".join(lines) + "\n"


LETTERS = "".join(map(chr, range(32, 127))) + "\t\t\t      aZzA09@[`{/:\r\v\fü€"


def make_input_odd(size, rng):
    """Short and empty lines of any characters, blanks at both ends, and no line break at the end of some."""
    lines = []
    left = min(size, 2000)
    while left >= 0:
        line = "".join(rng.choices(LETTERS, k=rng.choice((0, 0, 1, 1, 2, 3, 5, 8, 30, 130))))
        lines.append(rng.choice(("", "", " ", "\t", "  ", " \t ")) + line + rng.choice(("", "", " ", "\t", "  ")))
        left -= len(line) + 1
    return "\n".join(lines) + rng.choice(("", "\n", "\n\n")) if size else rng.choice(("", "\n", " ", "a", "7"))
