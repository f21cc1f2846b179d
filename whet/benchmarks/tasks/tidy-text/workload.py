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
