"""The log of a service that is in trouble now and then."""

import re
from datetime import datetime, timedelta

sizes = [0, 1, 8, 60, 300, 700, 900]

COMPONENTS = ["db.pool", "http.server", "auth", "mail-queue", "cache"]
MESSAGES = [
    "connection {n} lost after {n} ms",
    "cannot read {h}: checksum differs",
    'user "{w}" is locked',
    "timeout  while waiting for lock {h}",
    "Retry {n} of 5 failed for job {n}",
    "queue is full",
]
STAMP = re.compile(r"\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2},\d{3} ", re.ASCII)


def say(rng):
    words = {"n": rng.randrange(2000), "h": hex(rng.randrange(2**32)), "w": rng.choice(("ann", "bob", "cy", "di"))}
    return rng.choice(MESSAGES).format(**words)


def make_input(size, rng):
    time = datetime(2024, 5, 3, 8, 0, 0) + timedelta(seconds=rng.randrange(10**6))
    lines = []
    trouble = 0
    for _ in range(size):
        trouble = trouble - 1 if trouble else rng.randrange(20, 40) * (rng.random() < 0.04)
        time += timedelta(milliseconds=rng.randrange(900 if trouble else 6000))
        level = rng.choice(("ERROR", "ERROR", "FATAL", "WARN")) if trouble else rng.choice(("INFO", "INFO", "DEBUG", "ERROR"))
        stamp = time.strftime("%Y-%m-%d %H:%M:%S,") + f"{time.microsecond // 1000:03d}"
        lines.append(f"{stamp} {level:<5} [{rng.choice(COMPONENTS)}] {say(rng)}")
        if rng.random() < 0.03:
            lines.append("    at line 12 of something")
    return "\n".join(lines) + "\n", rng.choice((20, 30)), rng.choice((4, 5))


def valid(args):
    """Every time stamp is one, and none is earlier than that before it."""
    text, window, threshold = args
    if not 0 <= window < 10**6 or threshold < 1:
        return False
    times = []
    for line in text.split("\n"):
        if STAMP.match(line):
            if not 1900 <= int(line[:4]):
                return False
            times.append(datetime.strptime(line[:19], "%Y-%m-%d %H:%M:%S") + timedelta(milliseconds=int(line[20:23])))
    return times == sorted(times)


def check(args, output):
    text, window, threshold = args
    assert all(burst["most"] >= threshold for burst in output["bursts"])
    assert output["unreadable"] + sum(count for _, count in output["messages"]) <= len(text.split("\n"))


def make_input_odd(size, rng):
    """Equal times, times right at the window's edge, lines that are nearly right, messages of nothing."""
    time = datetime(2024, 2, 28, 23, 59, 50)
    lines = []
    for _ in range(size):
        time += timedelta(milliseconds=rng.choice((0, 0, 500, 1000, 2000, 2001, 60000)))
        stamp = time.strftime("%Y-%m-%d %H:%M:%S,") + f"{time.microsecond // 1000:03d}"
        level = rng.choice(("ERROR", "FATAL", "CRITICAL", "ERR", "error", "ERRORS"))
        gap = rng.choice((" ", "  ", " ", ""))
        message = rng.choice(("", " ", "0x", "0xZ", '"', '""', '"a" "b"', "0x1f2", "7seven7", "É 1", "a\tb", " x  y "))
        lines.append(f"{stamp}{gap}{level} [{rng.choice(('a', 'b.c', 'd-e', '', 'f g', 'ü'))}] {message}")
        if rng.random() < 0.1:
            lines.append(rng.choice(("", " ", "\r", stamp, "x" + lines[-1])))
    return rng.choice(("", "\n")).join(("", "\n".join(lines))), rng.choice((0, 1, 2, 60)), rng.choice((1, 2, 3))
