from functools import wraps


def metered(function):
    items = 0

    @wraps(function)
    def inner(values):
        nonlocal items
        items += len(values)
        return function(values)

    inner.items = lambda: items
    return inner


@metered
def spread(values: list[int]) -> int:
    widest, least = 0, None
    for value in values:
        least = value if least is None or value < least else least
        widest = max(widest, value - least)
    return widest
