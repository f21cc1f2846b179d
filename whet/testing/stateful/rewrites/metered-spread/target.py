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
    widest = 0
    for i, low in enumerate(values):
        for high in values[i:]:
            widest = max(widest, high - low)
    return widest
