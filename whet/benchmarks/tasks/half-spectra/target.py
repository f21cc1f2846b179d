"""Fourier transforms of signals stored in half precision, computed in double and given in single."""

import cmath

import numpy as np


def transform(values):
    """Returns the discrete Fourier transform of a list of complex numbers: halves as long as there are, then by definition."""
    n = len(values)
    if n % 2 == 1:
        out = []
        for k in range(n):
            total = 0j
            for i in range(n):
                total += values[i] * cmath.exp(-2j * cmath.pi * (k * i % n) / n)
            out.append(total)
        return out
    even = transform(values[0::2])
    odd = transform(values[1::2])
    out = [0j] * n
    for k in range(n // 2):
        turned = cmath.exp(-2j * cmath.pi * k / n) * odd[k]
        out[k] = even[k] + turned
        out[k + n // 2] = even[k] - turned
    return out


def spectra(signals):
    """Transforms signals.

    Args:
        signals: array of float16 by signal, sample, and real or imaginary part.

    Returns:
        The spectra in the same form as float32, divided by the number of samples, and the power of each signal's strongest
        frequency.
    """
    count, length, _ = signals.shape
    out = np.zeros(signals.shape, dtype=np.float32)
    strongest = np.zeros(count, dtype=np.float32)
    for row in range(count):
        values = [complex(float(signals[row, i, 0]), float(signals[row, i, 1])) for i in range(length)]
        found = transform(values) if length > 0 else []
        best = 0.0
        for k in range(length):
            value = found[k] / length
            out[row, k, 0] = value.real
            out[row, k, 1] = value.imag
            best = max(best, value.real * value.real + value.imag * value.imag)
        strongest[row] = best
    return out, strongest
