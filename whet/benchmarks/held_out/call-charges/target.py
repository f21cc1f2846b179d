"""Rates the calls of a telephone company's subscribers."""

import math
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal

FREE_NUMBERS = ["112", "110", "911", "999", "0800", "00800", "116"]


def is_peak(start):
    moment = datetime.strptime(start, "%Y-%m-%dT%H:%M:%S")
    return moment.weekday() < 5 and 8 <= moment.hour < 18


def find_tariff(number, tariffs):
    """Returns the tariff whose prefix is the longest that the number starts with, or None."""
    matching = []
    for tariff in tariffs:
        if number.startswith(tariff["prefix"]):
            matching.append(tariff)
    matching = sorted(matching, key=lambda tariff: len(tariff["prefix"]))
    if len(matching) == 0:
        return None
    return matching[-1]


def charge(call, tariff):
    price = Decimal(tariff["per_minute"])
    if not is_peak(call["start"]):
        price = price * Decimal(tariff["off_peak"])
    minutes = math.ceil(call["seconds"] / 60)
    total = Decimal(tariff["connection"]) + price * minutes
    return total.quantize(Decimal("0.01"), rounding=ROUND_HALF_UP)


def bill(calls, tariffs):
    """Adds up what each subscriber has to pay.

    Args:
        calls: dicts of caller, number, start and seconds. Calls of no length and to free numbers cost nothing.
        tariffs: dicts of prefix, destination, per_minute, off_peak (a factor) and connection; of two with one prefix
            the later one holds.

    Returns:
        For each caller, in the order of the first call, the number of calls, what they cost by destination and
        altogether; and the calls to which no tariff applies.
    """
    bills = {}
    unrated = []
    for call in calls:
        caller = call["caller"]
        if caller not in bills.keys():
            bills[caller] = {"calls": 0, "destinations": {}, "total": "0.00"}
        bills[caller]["calls"] += 1
        free = False
        for number in FREE_NUMBERS:
            if call["number"].startswith(number):
                free = True
        if free or call["seconds"] <= 0:
            continue
        tariff = find_tariff(call["number"], tariffs)
        if tariff is None:
            unrated.append((caller, call["number"], call["start"]))
            continue
        amount = charge(call, tariff)
        destinations = bills[caller]["destinations"]
        so_far = Decimal(destinations.get(tariff["destination"], "0.00"))
        destinations[tariff["destination"]] = str(so_far + amount)
        bills[caller]["total"] = str(sum([Decimal(value) for value in destinations.values()]))
    return bills, unrated
