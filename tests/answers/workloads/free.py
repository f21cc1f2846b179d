"""Bookings of rooms."""


def free(bookings, opening, closing):
    """Returns the gaps between bookings, each "HH:MM-HH:MM", within the opening hours."""
    busy = []
    for booking in bookings:
        start, end = booking.split("-")
        busy.append((_minutes(start), _minutes(end)))
    gaps = []
    at = opening
    while at < closing:
        if any(start <= at < end for start, end in busy):
            at += 1
            continue
        until = at
        while until < closing and not any(start <= until < end for start, end in busy):
            until += 1
        gaps.append((at, until))
        at = until
    return gaps


def _minutes(clock):
    hours, minutes = clock.split(":")
    if not 0 <= int(minutes) < 60:
        raise ValueError(f"no such time: {clock}")
    return 60 * int(hours) + int(minutes)
