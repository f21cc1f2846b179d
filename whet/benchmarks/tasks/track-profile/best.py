"""Brings a recorded track to even steps, to draw its elevation profile."""

from bisect import bisect_left
from itertools import accumulate, pairwise
from math import asin, cos, radians, sin, sqrt

EARTH = 6371000.0


def distance(one, other):
    dlat = radians(other[0] - one[0])
    dlon = radians(other[1] - one[1])
    h = sin(dlat / 2) ** 2 + cos(radians(one[0])) * cos(radians(other[0])) * sin(dlon / 2) ** 2
    return 2 * EARTH * asin(min(1.0, sqrt(h)))


def track_profile(track, steps):
    if not track or steps < 1:
        return [], 0.0, 0.0, 0.0
    metres = list(accumulate((distance(one, other) for one, other in pairwise(track)), initial=0.0))
    profile = []
    for step in range(steps + 1):
        at = metres[-1] * step / steps
        i = bisect_left(metres, at, 1) - 1
        if i + 1 >= len(track):
            profile.append((at, track[-1][2]))
            continue
        start, end, low = metres[i], metres[i + 1], track[i][2]
        profile.append((at, low if end == start else low + (at - start) / (end - start) * (track[i + 1][2] - low)))
    rises = [after[1] - before[1] for before, after in pairwise(profile)]
    climb = sum([max(0.0, rise) for rise in rises])
    descent = sum([max(0.0, -rise) for rise in rises])
    steepest = 0.0
    for (before, low), (after, high) in pairwise(profile):
        if after > before:
            steepest = max(steepest, (high - low) / (after - before))
    return profile, climb, descent, steepest
