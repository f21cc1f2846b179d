from collections import Counter

TOTALS: dict[str, int] = {}


def record(events: list[str]) -> list[str]:
    """Adds events to the totals; returns those that came in this call, each once."""
    counted = Counter(events)
    for event, count in counted.items():
        TOTALS[event] = TOTALS.get(event, 0) + count
    return list(counted)
