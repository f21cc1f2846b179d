"""Smoothing of signals."""
import numpy as np


def smooth(signal: np.ndarray, width: int) -> np.ndarray:
    """Returns the moving average; windows at the ends are cut short."""
    n = len(signal)
    out = np.empty(n)
    for i in range(n):
        low = max(0, i - width)
        high = min(n, i + width + 1)
        total = 0.0
        for j in range(low, high):
            total += signal[j]
        out[i] = total / (high - low)
    return out
