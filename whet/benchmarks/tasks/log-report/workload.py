"""Logs of a service with some hundred endpoints."""

sizes = [0, 1, 10, 100, 800, 2000, 3200]

METHODS = ("GET", "GET", "GET", "POST", "PUT", "DELETE")
NOUNS = ("users", "orders", "carts", "items", "invoices", "tokens", "reports", "teams", "files", "hooks")
VERBS = ("", "/history", "/search", "/export", "/archive", "/owner", "/items", "/preview", "/tags", "/state")


def make_input(size, rng):
    lines = []
    for _ in range(size):
        if rng.random() < 0.03:
            lines.append(rng.choice(["-- rotated --", "Traceback (most recent call last):", "  at line 3", "GET /x 200"]))
            continue
        day, hour, minute, second = rng.randrange(1, 29), rng.randrange(24), rng.randrange(60), rng.randrange(60)
        path = f"/{rng.choice(NOUNS)}/{rng.randrange(10**5)}{rng.choice(VERBS)}"
        status = rng.choice((200, 200, 200, 201, 204, 301, 404, 500, 503))
        moment = f"2024-03-{day:02d}T{hour:02d}:{minute:02d}:{second:02d}"
        lines.append(f"{moment} {rng.choice(METHODS)} {path} {status} {rng.randrange(1, 2000)}ms")
    if size and rng.random() < 0.3:
        lines += ["", "2024-03-01T10:00:00 GET /after/1 200 1ms"]
    return ("\n".join(lines),)


def check(args, output):
    report, skipped = output
    assert [row[0] for row in report] == sorted({row[0] for row in report})
    assert sum(row[1] for row in report) + skipped <= args[0].count("\n") + 1
