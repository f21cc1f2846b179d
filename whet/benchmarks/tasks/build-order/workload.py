"""Packages of a repository; most need a few that were written before them, some need each other."""

sizes = [0, 1, 4, 20, 60, 110, 140]

PARTS = ("core", "net", "ui", "auth", "store", "log", "mail", "sync", "admin", "api")


def make_input(size, rng):
    names = [f"{rng.choice(PARTS)}-{rng.choice(PARTS)}-{number:03d}" for number in range(size)]
    packages = []
    for number, name in enumerate(names):
        needs = [names[max(0, number - int(rng.expovariate(0.1)) - 1)] for _ in range(rng.randrange(5)) if number]
        if rng.random() < 0.3:
            needs.insert(0, f"vendor-{rng.randrange(20)}")
        packages.append({"name": name, "needs": needs, "minutes": rng.randrange(1, 30)})
    rng.shuffle(packages)
    return (packages,)


def valid(args):
    names = [package["name"] for package in args[0]]
    return len(set(names)) == len(names) and all(package["minutes"] >= 0 for package in args[0])


def check(args, output):
    order, finished, stuck, external = output
    assert sorted([*order, *stuck]) == sorted(package["name"] for package in args[0])
    assert list(finished) == order or set(finished) == set(order)


def make_input_tangled(size, rng):
    """Packages that need themselves, each other, something twice or nothing that there is; in any order."""
    names = [f"p{number}" for number in rng.sample(range(size * 2), size)]
    known = [*names, "other", ""]
    wild = rng.random() < 0.5
    packages = []
    for number, name in enumerate(names):
        pool = known if wild else [*names[:number], "other", "zlib"]
        needs = rng.choices(pool, k=rng.choice((0, 0, 1, 1, 2, 3)))
        if rng.random() < 0.05:
            needs.append(name)
        packages.append({"name": name, "needs": needs, "minutes": rng.choice((0, 1, 2, 5))})
    return (packages,)
