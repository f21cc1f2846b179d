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


def make_input_odd(size, rng):
    """Lines that are almost right, statuses and times at their limits, and paths that are hard to divide."""
    lines = [_odd_line(rng) for _ in range(size)]
    if size > 2 and rng.random() < 0.5:
        lines.insert(rng.randrange(size // 2, size), rng.choice(("", " ", "\t", "  \t ")))
    return ("\n".join(lines),)


def _odd_line(rng):
    year, moment = rng.choice(("2024", "0001", "9999")), f"{rng.randrange(1, 13):02d}-{rng.randrange(1, 32):02d}"
    hour = f"T{rng.randrange(24):02d}:{rng.randrange(60):02d}:{rng.randrange(60):02d}"
    method = rng.choice(("GET", "PUT", "X", "OPTIONS"))
    path = "".join(f"/{rng.choice(('', '7', '42', '1a', 'a1', 'v2', 'users', '-', '{id}', 'ü'))}" for _ in range(rng.randrange(1, 4)))
    status = rng.choice(("499", "500", "501", "000", "599", "999", "200"))
    slow = rng.choice(("0", "1", "2", "00", "07", "1999", "12345678901234567890"))
    whole = f"{year}-{moment}{hour} {method} {path} {status} {slow}ms"
    if rng.random() < 0.4:
        return whole
    if rng.random() < 0.5:
        digits = [i for i, letter in enumerate(whole) if letter.isdigit()]
        at = rng.choice(digits)
        return whole[:at] + rng.choice(("x", "", "-", "12", "_")) + whole[at + 1 :]
    return rng.choice((
        f" {whole}", f"x{whole}", f"{whole} ", f"{whole}x", f"{whole}\r", whole.lower(), whole.replace(" ", "  ", 1),
        f"{year}-{moment}{hour}  {path} {status} {slow}ms", f"{year}-{moment}{hour} {method} {path[1:]} {status} {slow}ms",
        f"{year}-{moment}{hour} {method} {path} {path} {status} {slow}ms", f"{year}-{moment}{hour} {method} {path} {status} ms",
        f"{year}-{moment}{hour} {method} {path} {status} {slow}", f"{year}-{moment}{hour} {method} {path} {status[:2]} {slow}ms",
        f"{year}-{moment}{hour} {method} {path} {status}{status} {slow}ms", f"{year}1-{moment}{hour} {method} {path} {status} {slow}ms",
    ))
