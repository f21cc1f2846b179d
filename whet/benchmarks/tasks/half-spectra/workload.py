"""Tones in noise."""

import math

import numpy as np

sizes = [0, 1, 3, 12, 64, 256, 512]


def make_input(size, rng):
    signals = np.zeros((3, size, 2), dtype=np.float16)
    for row in range(3):
        pitch, loud = rng.uniform(0, 1), rng.uniform(1, 6)
        for i in range(size):
            angle = 2 * math.pi * pitch * i
            signals[row, i, 0] = loud * math.cos(angle) + rng.gauss(0, 0.5)
            signals[row, i, 1] = loud * math.sin(angle) + rng.gauss(0, 0.5)
    return (signals,)


def valid(args):
    (signals,) = args
    right = signals.dtype == np.float16 and signals.ndim == 3 and signals.shape[2] == 2
    return bool(right and signals.shape[1] <= 1024 and (np.abs(signals) <= 16).all())


def check(args, output):
    (signals,) = args
    out, strongest = output
    assert out.shape == signals.shape and out.dtype == strongest.dtype == np.float32
    assert strongest.shape == signals.shape[:1]


def make_input_plain(size, rng):
    """Single ticks, constant and alternating signals, real ones, odd lengths, and no signals at all."""
    count, length = rng.choice((0, 1, 2, 5)), rng.choice((size, size | 1, 1, 2, 6, 9, 16))
    signals = np.zeros((count, length, 2), dtype=np.float16)
    for row in range(count if length else 0):
        kind = rng.randrange(4)
        if kind == 0:
            signals[row, rng.randrange(length), rng.randrange(2)] = 8
        elif kind == 1:
            signals[row] = rng.choice((-2.0, 0.5, 3.0))
        elif kind == 2:
            signals[row, ::2, 0] = 4
        else:
            signals[row, :, 0] = [rng.uniform(-16, 16) for _ in range(length)]
    return (signals,)
