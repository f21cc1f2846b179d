"""How far the closing prices of a security fell below their highest, and for how long."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view


def worst_of_window(falls, window):
    if not len(falls):
        return np.array([])
    padded = np.concatenate([np.zeros(min(window, len(falls)) - 1), falls])
    return sliding_window_view(padded, min(window, len(falls))).min(axis=1)


def episodes(falls):
    edges = np.flatnonzero(np.diff(np.concatenate([[False], falls < 0, [False]]).astype(np.int8))).tolist()
    found = []
    for first, end in zip(edges[::2], edges[1::2]):
        trough = first + int(falls[first:end].argmin())
        found.append((first, trough, end, float(falls[trough])))
    return found


def drawdown_table(closes, window, limit):
    if not len(closes):
        return np.zeros(0), np.array([]), [], 0.0
    peaks = np.maximum.accumulate(closes)
    falls = (closes - peaks) / peaks
    stretches = sorted(episodes(falls), key=lambda stretch: stretch[3])
    return falls, worst_of_window(falls, window), stretches[:limit], int((falls < 0).sum()) / len(falls)
