"""Turns the log of a service into a report by endpoint."""

import re


def log_report(text):
    """Counts requests, failures and the slowest answer of each endpoint.

    Args:
        text: lines such as ``2024-03-01T10:00:00 GET /users/42 200 13ms``; others are skipped, and blank ones end
            the log.

    Returns:
        A list of tuples of endpoint, requests, failures and slowest answer in milliseconds, sorted by endpoint, and
        the number of skipped lines.
    """
    queue = text.split("\n")
    endpoints = []
    failed = []
    slowest = {}
    skipped = 0
    while queue:
        line = queue.pop(0)
        if not line.strip():
            break
        match = re.match(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d) ([A-Z]+) (/\S*) (\d{3}) (\d+)ms$", line)
        if match is None:
            skipped += 1
            continue
        endpoint = match.group(2) + " " + re.sub(r"/\d+", "/{id}", match.group(3))
        endpoints.append(endpoint)
        if int(match.group(4)) >= 500:
            failed.append(endpoint)
        slowest[endpoint] = max(slowest.get(endpoint, 0), int(match.group(5)))
    report = []
    for endpoint in sorted(set(endpoints)):
        report.append((endpoint, endpoints.count(endpoint), failed.count(endpoint), slowest[endpoint]))
    return report, skipped
