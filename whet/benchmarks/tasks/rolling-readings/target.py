"""Watches the readings of a sensor through a sliding window."""


def middle(values):
    """Returns twice the median, which stays a whole number."""
    ordered = sorted(values)
    half = len(ordered) // 2
    if len(ordered) % 2 == 1:
        return 2 * ordered[half]
    return ordered[half - 1] + ordered[half]


def quarter(values, which):
    """Returns the value below which a quarter (1) or three quarters (3) of the others lie."""
    ordered = sorted(values)
    return ordered[(len(ordered) - 1) * which // 4]


def rank(values, reading):
    """Returns how many of the values are smaller."""
    smaller = 0
    for value in values:
        if value < reading:
            smaller += 1
    return smaller


def rolling_report(readings, width):
    """Describes each reading by those just before it.

    Args:
        readings: whole numbers; None where the sensor did not answer.
        width: how many readings, gaps left out, are looked back at, the reading itself included.

    Returns:
        For each reading that is no gap, a tuple of its index, twice the median of the window, its spread, the rank of
        the reading in it and whether the reading is an outlier by Tukey's fences; and the indices of the gaps.
    """
    rows = []
    gaps = []
    for index in range(len(readings)):
        if readings[index] is None:
            gaps.append(index)
            continue
        known = [reading for reading in readings[: index + 1] if reading is not None]
        window = known[max(0, len(known) - width) :]
        spread = max(window) - min(window)
        low, high = quarter(window, 1), quarter(window, 3)
        reach = 3 * (high - low)
        outlier = 2 * readings[index] < 2 * low - reach or 2 * readings[index] > 2 * high + reach
        rows.append((index, middle(window), spread, rank(window, readings[index]), outlier))
    return rows, gaps
