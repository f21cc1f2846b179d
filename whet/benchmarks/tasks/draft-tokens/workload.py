"""Drafts of four tokens, and two models that mostly agree."""

import numpy as np

sizes = [0, 1, 2, 5, 12, 40, 64]


def drawn(count, length, words, rng):
    large = np.array([rng.random() ** 3 + 1e-3 for _ in range(count * (length + 1) * words)]).reshape(count, length + 1, words)
    noise = np.array([rng.uniform(0.5, 1.5) for _ in range(count * length * words)]).reshape(count, length, words)
    small = large[:, :length] * noise
    drafts = np.array([rng.randrange(words) for _ in range(count * length)], dtype=np.int64).reshape(count, length)
    draws = np.array([rng.random() for _ in range(count * (length + 1))]).reshape(count, length + 1)
    return drafts, small / small.sum(axis=2, keepdims=True), large / large.sum(axis=2, keepdims=True), draws


def make_input(size, rng):
    return drawn(size, 4, 64, rng)


def valid(args):
    drafts, small, large, draws = args
    if [one.ndim for one in args] != [2, 3, 3, 2] or drafts.dtype != np.int64:
        return False
    count, length = drafts.shape
    words = large.shape[2]
    shapes = small.shape == (count, length, words) and large.shape == (count, length + 1, words)
    floats = small.dtype == large.dtype == draws.dtype == np.float64
    if not (shapes and floats and draws.shape == (count, length + 1) and words):
        return False
    inside = ((drafts >= 0) & (drafts < words)).all() and ((draws >= 0) & (draws < 1)).all()
    return bool(inside and all(((one >= 0) & (one <= 1)).all() for one in (small, large)))


def check(args, output):
    drafts, small, large, draws = args
    texts, taken = output
    assert len(texts) == len(drafts) and taken == sum(len(text) - 1 for text in texts)


def make_input_certain(size, rng):
    """Models that agree wholly or not at all, tokens of no probability, few words, and drafts of no tokens."""
    length, words = rng.choice(((0, 3), (1, 1), (2, 2), (5, 4)))
    drafts, small, large, draws = drawn(size, length, words, rng)
    kind = rng.randrange(4)
    if kind == 0:
        small[:] = large[:, :length]
    elif kind == 1:
        large = np.round(large)
    elif kind == 2:
        small, large = np.round(small), np.round(large)
    else:
        draws[:] = rng.choice((0.0, 0.5, 1 - 2**-53))
    return drafts, small, large, draws
