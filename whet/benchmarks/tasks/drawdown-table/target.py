"""How far the closing prices of a security fell below their highest, and for how long."""

import numpy as np


def falls_below_peak(closes):
    """Returns how far each close lies below the highest so far, as a share of it: 0 or less."""
    falls = np.zeros(len(closes))
    for day in range(len(closes)):
        peak = max(closes[: day + 1])
        falls[day] = (closes[day] - peak) / peak
    return falls


def worst_of_window(falls, window):
    """Returns the deepest fall of the last `window` days, for each day."""
    worst = np.array([])
    for day in range(len(falls)):
        first = max(0, day - window + 1)
        worst = np.append(worst, np.min(falls[first : day + 1]))
    return worst


def episodes(falls):
    """Returns the stretches below a peak as tuples of first day, day of the deepest fall, day after the last, depth."""
    found = []
    day = 0
    while day < len(falls):
        if falls[day] == 0:
            day += 1
            continue
        end = day
        while end < len(falls) and falls[end] < 0:
            end += 1
        trough = day
        for other in range(day, end):
            if falls[other] < falls[trough]:
                trough = other
        found.append((day, trough, end, float(falls[trough])))
        day = end
    return found


def drawdown_table(closes, window, limit):
    """Describes the drawdowns of a series of closing prices.

    Args:
        closes: array of prices above 0, a day each.
        window: days that the rolling figure looks back, this one included.
        limit: how many of the deepest stretches are told.

    Returns:
        The falls, the deepest of each window, the stretches by depth (equal ones in their order), and the share of days
        below a peak.
    """
    falls = falls_below_peak(closes)
    rolling = worst_of_window(falls, window)
    stretches = sorted(episodes(falls), key=lambda stretch: stretch[3])
    below = len([fall for fall in falls if fall < 0])
    return falls, rolling, stretches[:limit], below / len(falls) if len(falls) > 0 else 0.0
