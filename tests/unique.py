"""A slow function with rewrites of it and its workload, as several test files judge them."""

from __future__ import annotations

SLOW = """\
def unique(items):
    seen = []
    for item in items:
        if item not in seen:
            seen.append(item)
    return seen
"""
GOOD = "def unique(items):\n    return list(dict.fromkeys(items))\n"
WRONG = "def unique(items):\n    return sorted(set(items))\n"


def workload(*sizes: int) -> str:
    """Returns a workload file of these sizes."""
    return f"""\
sizes = {list(sizes)}
def make_input(size, rng):
    return ([rng.randrange(2 * size) for _ in range(size)],)
"""
