"""Labels: the text that a scanner reads off a parcel."""

import re

FIELDS = ("sender", "number", "grams")


def scan_labels(texts):
    """Reads labels such as ``ACME/000123 1500g``.

    Returns:
        a dict for each label that can be read, and the texts of the others.
    """
    parcels = []
    unread = []
    for text in texts:
        found = re.match(r"\s*([A-Z][A-Z0-9]*)/(\d{6})\s+(\d+)(g|kg)\s*$", text)
        if found is None:
            unread.append(text)
            continue
        sender, number, weight, unit = found.groups()
        grams = int(weight) * (1000 if unit == "kg" else 1)
        parcels.append({"sender": sender, "number": int(number), "grams": grams})
    return parcels, unread


def check_digit(number):
    """Returns the digit that guards a number: Luhn's rule."""
    total = 0
    for place, digit in enumerate(reversed(str(number))):
        value = int(digit) * (2 if place % 2 == 0 else 1)
        total += value - 9 if value > 9 else value
    return -total % 10


def label(parcel):
    """Returns a parcel's label."""
    return f"{parcel['sender']}/{parcel['number']:06d} {parcel['grams']}g"
