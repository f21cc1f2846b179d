sizes = [0, 1, 5, 50, 400, 800]
def make_input(size, rng):
    names = [f"a{i}" for i in range(max(1, size // 20))]
    entries = [(rng.choice(names), rng.randrange(365), rng.randrange(-500, 500)) for _ in range(size)]
    days = [rng.randrange(-5, 370) for _ in range(size // 4 + 1)]
    return {"init": (entries,), "args": (days,)}
