"""Brings a recorded track to even steps, to draw its elevation profile."""

import math

EARTH = 6371000.0


def distance(one, other):
    """Returns metres between two points on the ground, by the haversine formula."""
    lat1, lat2 = math.radians(one[0]), math.radians(other[0])
    dlat = math.radians(other[0] - one[0])
    dlon = math.radians(other[1] - one[1])
    h = math.sin(dlat / 2) ** 2 + math.cos(lat1) * math.cos(lat2) * math.sin(dlon / 2) ** 2
    return 2 * EARTH * math.asin(min(1.0, math.sqrt(h)))


def distance_from_start(track, index):
    total = 0.0
    for i in range(index):
        total += distance(track[i], track[i + 1])
    return total


def elevation_at(track, metres):
    """Returns the elevation so many metres from the start, between two points by their share."""
    for i in range(len(track) - 1):
        start = distance_from_start(track, i)
        end = distance_from_start(track, i + 1)
        if metres <= end:
            if end == start:
                return track[i][2]
            share = (metres - start) / (end - start)
            return track[i][2] + share * (track[i + 1][2] - track[i][2])
    return track[-1][2]


def track_profile(track, steps):
    """Samples a track.

    Args:
        track: tuples of latitude, longitude (degrees) and elevation (metres).
        steps: how many equal steps the track is cut into; less than 1 gives no profile.

    Returns:
        Tuples of metres from the start and elevation, the metres climbed, those descended and the steepest slope up of
        any step.
    """
    if not track or steps < 1:
        return [], 0.0, 0.0, 0.0
    profile = []
    for step in range(steps + 1):
        metres = distance_from_start(track, len(track) - 1) * step / steps
        profile.append((metres, elevation_at(track, metres)))
    climb = sum([max(0.0, profile[i + 1][1] - profile[i][1]) for i in range(steps)])
    descent = sum([max(0.0, profile[i][1] - profile[i + 1][1]) for i in range(steps)])
    steepest = 0.0
    for i in range(steps):
        run = profile[i + 1][0] - profile[i][0]
        if run > 0:
            steepest = max(steepest, (profile[i + 1][1] - profile[i][1]) / run)
    return profile, climb, descent, steepest
