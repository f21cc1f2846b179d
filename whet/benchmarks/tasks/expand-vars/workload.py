"""Settings and letters made from them."""

sizes = [0, 1, 4, 30, 200, 500, 700]

WORDS = ("Dear", "customer", "your order", "will be", "sent", "to", "costs", "$$", "until", "the", "größe", "thanks,")


def make_input(size, rng):
    names = [f"{rng.choice(('user', 'shop', 'mail', 'order'))}.{rng.choice(('name', 'id', 'host'))}{n}" for n in range(size // 4 + 1)]
    lines = []
    for number, name in enumerate(names[: size + 1]):
        value = f"v{rng.randrange(10**6)}"
        if number and rng.random() < 0.3:
            value += f" at ${{{names[rng.randrange(number)]}}}" if len(value) < 30 else ""
        lines.append(f"{name} = {value}")
    lines.append("---")
    for _ in range(size):
        line = rng.choices(WORDS, k=rng.randrange(2, 7))
        line.insert(rng.randrange(len(line)), f"${{{rng.choice(names)}}}")
        if rng.random() < 0.1:
            line.append(f"${{missing{rng.randrange(5)}}}")
        if rng.random() < 0.1:
            line.append(f"${{missing{rng.randrange(5)}|nobody}}")
        lines.append(" ".join(line))
    return "\n".join(lines) + "\n"


def make_input_odd(size, rng):
    """Names that are defined again, empty ones and values, dollars and braces without their like, no template at all."""
    names = ("a", "b", "ab", "", "a b", "A", "ä", "x.y")
    pieces = ("$", "$$", "${", "}", "{", "|", "=", " ", "a", "$${a}", "${a", "$$$", "-", "---", "$a", "%s", "\\", "\t", "é")

    def text(most):
        parts = []
        for _ in range(rng.randrange(most)):
            name = rng.choice(names)
            parts.append(rng.choice((*rng.choices(pieces, k=3), f"${{{name}}}", f"${{{name}|}}", f"${{{name}|x y}}", f"${{{name}|a|b}}", f"${{no{rng.randrange(2)}}}")))
        return "".join(parts)

    lines = []
    for _ in range(min(size, 25) + 5 if size else 0):
        sign = rng.choice(("=", " = ", "\t=  ", " =", "=\t"))
        lines.append(rng.choice(("", "", "", " ")) + rng.choice(names) + (sign if rng.random() < 0.95 else " ") + text(5) + rng.choice(("", " ")))
    if rng.random() < 0.9:
        lines.append("---")
        lines += [rng.choice((text(7), text(3), "---", "")) for _ in range(min(size, 100) + 5)]
    return "\n".join(lines) + rng.choice(("", "\n", "\n\n"))
