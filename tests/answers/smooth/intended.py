"""Smoothing of signals."""
import numpy as np


def smooth(signal: np.ndarray, width: int) -> np.ndarray:
    """Returns the moving average; windows at the ends are cut short."""
    n = len(signal)
    if type(signal) is np.ndarray and signal.dtype == np.float64 and signal.ndim == 1 and type(width) is int and width >= 0:
        reach = min(width, n)
        total = np.zeros(n)
        for k in range(-reach, reach + 1):
            if k < 0:
                total[-k:] += signal[:k]
            elif k:
                total[:-k] += signal[k:]
            else:
                total += signal
        index = np.arange(n)
        total /= np.minimum(n, index + reach + 1) - np.maximum(0, index - reach)
        return total
    out = np.empty(n)
    for i in range(n):
        low = max(0, i - width)
        high = min(n, i + width + 1)
        total = 0.0
        for j in range(low, high):
            total += signal[j]
        out[i] = total / (high - low)
    return out
