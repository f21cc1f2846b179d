sizes = [0, 1, 10, 300, 2000, 4000]
def make_input(size, rng):
    if size < 2000 and rng.random() < 0.05:
        return ""
    names = ["".join(rng.choice("abcdefgh") for _ in range(rng.randrange(1, 12))) for _ in range(size // 10 + 1)]
    rows = [f"{rng.choice(names)} {rng.choice([rng.random() * 10 ** rng.randrange(-6, 9), rng.randrange(100)])}" for _ in range(size)]
    return f"{size}\n" + "\n".join(rows) + "\n"
