"""Finds the bus stops around addresses."""


def distance(one, other):
    dx = one[0] - other[0]
    dy = one[1] - other[1]
    return (dx**2 + dy**2) ** 0.5


def nearest_stops(addresses, stops, reach):
    """Finds for each address the nearest stop that can be walked to.

    Args:
        addresses: tuples of x and y, in metres.
        stops: tuples of name, x, y and the departures of a day.
        reach: how far somebody walks, in metres, inclusive.

    Returns:
        For each address a dict: the nearest stop (of equally near ones the one with more departures, then the first), its
        distance, how many stops are within reach and the departures there. None where there is no stop within reach.
    """
    result = []
    for address in addresses:
        reachable = []
        for index, (name, x, y, departures) in enumerate(stops):
            away = distance(address, (x, y))
            if away <= reach:
                reachable.append((away, -departures, index, name))
        if not reachable:
            result.append(None)
            continue
        reachable.sort()
        result.append(
            {
                "stop": reachable[0][3],
                "metres": round(reachable[0][0], 1),
                "stops": len(reachable),
                "departures": sum(-row[1] for row in reachable),
            }
        )
    return result
