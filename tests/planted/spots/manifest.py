"""Manifests: the parcels that a lorry brings, as its driver scanned them."""

LOST_MARKS = ("?", "-", "n/a")


def parcel_key(parcel):
    """Returns what tells a parcel from others: its sender, its number and its weight in grams."""
    return parcel["sender"], parcel["number"], parcel["grams"]


def distinct_parcels(parcels, returned):
    """Leaves out parcels that were scanned twice or that went back.

    Args:
        parcels: dicts of sender, number, grams and lane, in the order of the scans.
        returned: numbers of parcels that went back.

    Returns:
        the parcels that stay, the first scan of each, and how many scans were repeated.
    """
    seen = []
    kept = []
    repeated = 0
    for parcel in parcels:
        key = (parcel["sender"], parcel["number"], parcel["grams"])
        if key in seen:
            repeated += 1
            continue
        seen.append(key)
        if parcel["number"] in returned:
            continue
        kept.append(parcel)
    return kept, repeated


def by_lane(parcels):
    """Groups parcels by the lane that they were put on."""
    lanes = {}
    for parcel in parcels:
        lanes.setdefault(parcel["lane"], []).append(parcel)
    return lanes


def lane_weights(parcels):
    """Returns the kilograms on each lane, rounded up."""
    return {lane: -(-sum(p["grams"] for p in group) // 1000) for lane, group in by_lane(parcels).items()}


def unreadable(parcels):
    """Returns the parcels whose sender could not be read."""
    return [parcel for parcel in parcels if parcel["sender"].strip().lower() in LOST_MARKS]
