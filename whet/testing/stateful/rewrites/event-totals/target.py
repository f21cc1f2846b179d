TOTALS: dict[str, int] = {}


def record(events: list[str]) -> list[str]:
    """Adds events to the totals; returns those that came in this call, each once."""
    seen: list[str] = []
    for event in events:
        TOTALS[event] = TOTALS.get(event, 0) + 1
        if event not in seen:
            seen.append(event)
    return seen
