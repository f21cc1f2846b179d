"""Cleans a stream of events before it is stored."""


def dedup_events(events, muted_sources):
    """Keeps the first event of each kind and key from a source.

    Args:
        events: tuples of time stamp, source, kind and key, in the order in which they came.
        muted_sources: sources whose events are thrown away.

    Returns:
        The events that are kept, in the same order, and how many were dropped as repeated and as muted.
    """
    seen = set()
    muted_sources = set(muted_sources)
    kept = []
    repeated = 0
    muted = 0
    for event in events:
        stamp, source, kind, key = event
        if source in muted_sources:
            muted += 1
            continue
        identity = (source, kind, key)
        if identity in seen:
            repeated += 1
            continue
        seen.add(identity)
        kept.append((stamp, source, kind, key))
    return kept, {"repeated": repeated, "muted": muted}
