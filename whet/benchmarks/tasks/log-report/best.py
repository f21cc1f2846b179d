"""Turns the log of a service into a report by endpoint."""

import re

LINE = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d) ([A-Z]+) (/\S*) (\d{3}) (\d+)ms$")
NUMBER = re.compile(r"/\d+")


def log_report(text):
    """Counts requests, failures and the slowest answer of each endpoint.

    Args:
        text: lines such as ``2024-03-01T10:00:00 GET /users/42 200 13ms``; others are skipped, and blank ones end
            the log.

    Returns:
        A list of tuples of endpoint, requests, failures and slowest answer in milliseconds, sorted by endpoint, and
        the number of skipped lines.
    """
    found = {}
    skipped = 0
    for line in text.split("\n"):
        match = LINE.match(line)
        if match is None:
            if not line.strip():
                break
            skipped += 1
            continue
        _, method, path, status, spent = match.groups()
        name = method + " " + NUMBER.sub("/{id}", path)
        row = found.get(name)
        if row is None:
            row = found[name] = [0, 0, 0]
        row[0] += 1
        row[1] += int(status) >= 500
        row[2] = max(row[2], int(spent))
    return [(name, *found[name]) for name in sorted(found)], skipped
