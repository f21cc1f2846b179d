"""The yard: docks and the ways between them."""


def reachable(dock, ways):
    """Returns how many stretches each dock is away, for those that can be reached; the nearest first.

    Args:
        dock: to start from.
        ways: dock -> docks that are one stretch away.
    """
    distance = {dock: 0}
    waiting = [dock]
    while waiting:
        here = waiting.pop(0)
        for other in ways.get(here, ()):
            if other not in distance:
                distance[other] = distance[here] + 1
                waiting.append(other)
    return distance


def nearest_docks(parcels, docks):
    """Returns for each parcel's place the dock that is nearest, by squared distance; of several the first.

    Args:
        parcels: tuples of x and y.
        docks: tuples of name, x and y.
    """
    chosen = []
    for x, y in parcels:
        best = None
        least = None
        for name, dock_x, dock_y in docks:
            square = (x - dock_x) * (x - dock_x) + (y - dock_y) * (y - dock_y)
            if least is None or square < least:
                best = name
                least = square
        chosen.append(best)
    return chosen


def dead_ends(ways):
    """Returns the docks from which nothing goes on."""
    return sorted(dock for dock, others in ways.items() if not others)
