"""Rates the calls of a telephone company's subscribers."""

import math
from datetime import date
from decimal import ROUND_HALF_UP, Decimal

FREE_NUMBERS = ("112", "110", "911", "999", "0800", "00800", "116")
CENT = Decimal("0.01")


def bill(calls, tariffs):
    by_prefix = {tariff["prefix"]: tariff for tariff in tariffs}
    lengths = sorted({len(prefix) for prefix in by_prefix}, reverse=True)
    workdays = {}
    charges = {}
    bills = {}
    unrated = []
    for call in calls:
        caller = call["caller"]
        number = call["number"]
        entry = bills.get(caller)
        if entry is None:
            entry = bills[caller] = {"calls": 0, "destinations": {}, "total": Decimal("0.00")}
        entry["calls"] += 1
        if call["seconds"] <= 0 or number.startswith(FREE_NUMBERS):
            continue
        for length in lengths:
            prefix = number[:length]
            if prefix in by_prefix:
                break
        else:
            unrated.append((caller, number, call["start"]))
            continue
        start = call["start"]
        day = start[:10]
        if day not in workdays:
            workdays[day] = date.fromisoformat(day).weekday() < 5
        peak = workdays[day] and "08" <= start[11:13] < "18"
        minutes = math.ceil(call["seconds"] / 60)
        tariff = by_prefix[prefix]
        key = prefix, peak, minutes
        amount = charges.get(key)
        if amount is None:
            price = Decimal(tariff["per_minute"])
            if not peak:
                price = price * Decimal(tariff["off_peak"])
            amount = (Decimal(tariff["connection"]) + price * minutes).quantize(CENT, rounding=ROUND_HALF_UP)
            charges[key] = amount
        destinations = entry["destinations"]
        destinations[tariff["destination"]] = destinations.get(tariff["destination"], 0) + amount
        entry["total"] += amount
    for entry in bills.values():
        entry["destinations"] = {name: str(amount) for name, amount in entry["destinations"].items()}
        entry["total"] = str(entry["total"])
    return bills, unrated
