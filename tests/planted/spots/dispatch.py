"""Dispatch: which lorry goes next."""

from itertools import pairwise


def dispatch_order(lorries, turnaround):
    """Lets lorries leave one after the other, the one that is ready first at first.

    Args:
        lorries: tuples of the minute at which a lorry is ready, its number, and how often it has to go.
        turnaround: minutes until a lorry is ready again.

    Returns:
        tuples of minute and number, one for each departure.
    """
    waiting = list(lorries)
    departures = []
    while waiting:
        waiting.sort()
        ready, number, left = waiting.pop(0)
        departures.append((ready, number))
        if left > 1:
            waiting.append((ready + turnaround + number % 7, number, left - 1))
    return departures


def gaps(departures):
    """Returns the minutes between departures."""
    return [later - earlier for (earlier, _), (later, _) in pairwise(departures)]


def late(departures, deadline):
    """Returns the numbers of lorries that leave after a deadline, each once."""
    return sorted({number for minute, number in departures if minute > deadline})


def timetable(departures):
    """Returns a line for each departure, with its time of day."""
    return [f"{minute // 60 % 24:02d}:{minute % 60:02d} lorry {number}" for minute, number in departures]
