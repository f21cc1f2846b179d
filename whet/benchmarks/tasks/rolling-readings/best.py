"""Watches the readings of a sensor through a sliding window."""

from bisect import bisect_left, insort


def rolling_report(readings, width):
    rows = []
    gaps = []
    known = []
    ordered = []  # the window by size: a reading is put in and taken out by bisection
    for index, reading in enumerate(readings):
        if reading is None:
            gaps.append(index)
            continue
        known.append(reading)
        insort(ordered, reading)
        size = len(ordered)
        if size > width:
            del ordered[bisect_left(ordered, known[-1 - width])]
            size -= 1
        half = size // 2
        median = 2 * ordered[half] if size % 2 else ordered[half - 1] + ordered[half]
        low, high = ordered[(size - 1) // 4], ordered[(size - 1) * 3 // 4]
        reach = 3 * (high - low)
        outlier = 2 * reading < 2 * low - reach or 2 * reading > 2 * high + reach
        rows.append((index, median, ordered[-1] - ordered[0], bisect_left(ordered, reading), outlier))
    return rows, gaps
