"""Seasons of small leagues; size is the number of teams."""

sizes = [0, 1, 2, 4, 9, 20, 24]

TOWNS = ("Aar", "Bel", "Cor", "Dun", "Esk", "Fal", "Gor", "Hal", "Ist", "Jor", "Kel", "Lin", "Mör")
ENDS = ("ton", "by", "ford", " United", " Rovers", "heim", "-on-Sea", " 04")


def make_input(size, rng):
    teams = []
    while len(teams) < size:
        name = rng.choice(TOWNS) + rng.choice(ENDS)
        if name not in teams:
            teams.append(name)
    lines = []
    for home in teams:
        for away in teams:
            if home != away:
                lines.append(f"{home} - {away} {min(int(rng.expovariate(0.6)), 9)}:{min(int(rng.expovariate(0.8)), 9)}")
    rng.shuffle(lines)
    return "\n".join([f"Matchday {len(lines)}", *lines]) + "\n"


def make_input_ties(size, rng):
    """Few goals, so that most teams are decided by the last rules; and lines that are almost right."""
    teams = rng.sample(["T1", "a - b", "Ü", "1 1:1", "T10", "t1", "A long name of more than twenty", "x"], rng.randrange(2, 9))
    lines = []
    for _ in range(size + 12 if size else 0):
        home, away = rng.sample(teams, 2)
        lines.append(f"{home} - {away} {rng.choice((0, 0, 1, 1, 2, 10))}:{rng.choice((0, 0, 1, 1, 2, '03'))}")
        if rng.random() < 0.5:
            lines.append(f"{away} - {home} {rng.choice((0, 0, 1, 1, 2))}:{rng.choice((0, 0, 1, 1, 2))}")
        if rng.random() < 0.6:
            lines.append(rng.choice((
                f"{home} - {home} 1:0", f"{home} - {away}", f"{home} {away} 1:1", f" {home} - {away} 1:1", "", "  ",
                f"{home} - {away} 1:x", f"{home} - {away}  3:1 ", f"{home} - {away} 1-1", f"{home} -  {away} 1:1",
                f"{home} - {away} 2:1 n.V.", f"{home} - {away} 1:1:1", f"{home}-{away} 2:0", f"{home} - {away} 4:\t",
            )))  # fmt: skip
    if lines and rng.random() < 0.7:
        lines += [f"{home} - {home} 3:1", f"{home} -  {away} 3:0", f"{away} - {home} 2:x"]
    rng.shuffle(lines)
    return "\n".join(lines) + rng.choice(("", "\n"))


def make_input_level(size, rng):
    """Each team plays as often as all others and always draws: goals, goals as guests and names decide."""
    teams = [f"{letter}{number}" for number in range(min(size, 8) // 2 + 1) for letter in "bAa"]
    rng.shuffle(teams)
    pool = rng.choice(((0, 1, 1, 2), (1,)))
    lines = []
    for home, away in zip(teams, teams[1:] + teams[:1]):
        for _ in range(2):
            goals = rng.choice(pool)
            lines.append(f"{home} - {away} {goals}:{goals}")
            home, away = (away, home) if size % 2 else (home, away)
    return "\n".join(lines) + "\n"
