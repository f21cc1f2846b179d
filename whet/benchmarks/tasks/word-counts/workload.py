"""Words of a made-up language with a few frequent and many rare ones, and questions about them."""

sizes = [0, 1, 10, 1000, 4000, 12000, 20000]

SYLLABLES = ("ba", "ne", "ti", "ro", "lu", "ka", "mes", "vor", "shi", "gra", "pol", "end", "ust", "ia")


def make_input(size, rng):
    known = ["".join(rng.choices(SYLLABLES, k=rng.randrange(2, 7))) for _ in range(size // 4 + 3)]
    words = [known[min(int(rng.paretovariate(0.6)) - 1, len(known) - 1)] for _ in range(size)]
    lines = [str(size), " ".join(words)]
    questions = []
    for _ in range(size):
        word = rng.choice(known)
        if rng.random() < 0.1:
            word += rng.choice(SYLLABLES)
        questions.append(f"{rng.choice(('count', 'first'))} {word}")
    for _ in range(min(size, 12)):
        questions[rng.randrange(len(questions))] = f"prefix {rng.choice(known)[:3]}"
    return "\n".join([*lines, str(len(questions)), *questions]) + "\n"


def make_input_alike(size, rng):
    """Words that begin alike, words that never came, and all kinds of questions in equal parts."""
    words = ["".join(rng.choices("ab", k=rng.randrange(1, 5))) for _ in range(size)]
    kinds = ("count", "first", "prefix", "prefixes")
    asked = min(size, 300) + rng.randrange(2)
    questions = [f"{rng.choice(kinds)} {''.join(rng.choices('abc', k=rng.randrange(1, 6)))}" for _ in range(asked)]
    lines = [str(size), *(" ".join(words[i : i + 7]) for i in range(0, size, 7)), str(len(questions)), *questions]
    return "\n".join(lines) + "\n"
