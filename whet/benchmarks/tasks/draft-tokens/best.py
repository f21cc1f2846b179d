"""Decides which tokens that a small model drafted a large one takes over: the acceptance of speculative decoding."""

import numpy as np


def accept_drafts(drafts, small, large, draws):
    count, length = drafts.shape
    if not count:
        return [], 0
    rows = np.arange(count)
    named = drafts[:, :, None]
    likely = np.take_along_axis(small, named, axis=2)[:, :, 0]
    wanted = np.take_along_axis(large[:, :length], named, axis=2)[:, :, 0]
    refused = np.ones((count, length + 1), dtype=bool)
    refused[:, :length] = draws[:, :length] * likely >= wanted
    taken = refused.argmax(axis=1)
    weights = large[rows, taken]
    short = np.flatnonzero(taken < length)
    weights[short] = np.maximum(weights[short] - small[short, taken[short]], 0.0)
    running = weights.cumsum(axis=1)
    above = running > draws[:, length, None] * running[:, -1:]
    above[:, -1] = True
    added = above.argmax(axis=1).tolist()
    texts = [row[:kept] + [last] for row, kept, last in zip(drafts.tolist(), taken.tolist(), added, strict=True)]
    return texts, int(taken.sum())
