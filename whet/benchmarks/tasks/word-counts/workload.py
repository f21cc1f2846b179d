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
