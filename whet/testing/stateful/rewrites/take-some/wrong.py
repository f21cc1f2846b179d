from collections.abc import Iterator


def take(numbers: Iterator[int], count: int) -> list[int]:
    """Returns the next numbers; the caller goes on behind them."""
    taken: list[int] = []
    for number in numbers:
        if len(taken) == count:
            break
        taken.append(number)
    return taken
