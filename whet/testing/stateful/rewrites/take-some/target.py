from collections.abc import Iterator


def take(numbers: Iterator[int], count: int) -> list[int]:
    """Returns the next numbers; the caller goes on behind them."""
    taken: list[int] = []
    while len(taken) < count:
        try:
            taken = taken + [next(numbers)]
        except StopIteration:
            break
    return taken
