"""A day's calls of some subscribers, and the price list of a small company."""

import re
from datetime import datetime

sizes = [0, 1, 5, 30, 150, 500, 700]

KEYS = {"caller", "number", "start", "seconds"}
TARIFF_KEYS = {"prefix", "destination", "per_minute", "off_peak", "connection"}
START = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}")


def price_list(rng, countries):
    tariffs = []
    for _ in range(countries):
        country = f"00{rng.randrange(20, 999)}"
        for kind in ("", str(rng.randrange(10)), str(rng.randrange(10, 100))):
            tariffs.append(
                {
                    "prefix": country + kind,
                    "destination": f"{country} {'mobile' if kind else 'fixed'}",
                    "per_minute": f"0.{rng.randrange(1, 999):03d}",
                    "off_peak": rng.choice(("0.5", "0.75", "1")),
                    "connection": rng.choice(("0", "0.05", "0.10")),
                }
            )
    return tariffs


def a_call(rng, tariffs, callers):
    number = rng.choice(tariffs)["prefix"] if rng.random() < 0.9 else rng.choice(("0800", "0", "112"))
    return {
        "caller": f"s{rng.randrange(callers):03d}",
        "number": number + str(rng.randrange(10**6, 10**7)),
        "start": f"2024-{rng.randrange(1, 13):02d}-{rng.randrange(1, 29):02d}"
        f"T{rng.randrange(24):02d}:{rng.randrange(60):02d}:{rng.randrange(60):02d}",
        "seconds": int(rng.expovariate(1 / 150)),
    }


def make_input(size, rng):
    tariffs = price_list(rng, 40)
    return [a_call(rng, tariffs, size // 10 + 2) for _ in range(size)], tariffs


def amount(text):
    return isinstance(text, str) and re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,4})?", text) is not None


def valid(args):
    calls, tariffs = args
    for tariff in tariffs:
        if set(tariff) != TARIFF_KEYS or not all(amount(tariff[key]) for key in ("per_minute", "off_peak", "connection")):
            return False
    for call in calls:
        if set(call) != KEYS or not START.fullmatch(call["start"]):
            return False
        datetime.strptime(call["start"], "%Y-%m-%dT%H:%M:%S")
        if not 0 <= call["seconds"] < 10**6:
            return False
    return True


def check(args, output):
    calls, _ = args
    bills, unrated = output
    assert sum(entry["calls"] for entry in bills.values()) == len(calls)
    assert len(unrated) <= len(calls)


def make_input_odd(size, rng):
    """Prefixes within prefixes, empty and doubled ones; calls of no length, at the hours' edges, at half cents."""
    prefixes = ["", "0", "00", "001", "0012", "0013", "1", "08"][rng.randrange(2) :]
    tariffs = []
    for prefix in rng.choices(prefixes, k=rng.randrange(0, 9)):
        tariffs.append(
            {
                "prefix": prefix,
                "destination": rng.choice(("near", "far", "é", "")),
                "per_minute": rng.choice(("0", "0.005", "0.010", "0.015", "0.025", "1", "0.3333")),
                "off_peak": rng.choice(("0", "0.5", "1", "2")),
                "connection": rng.choice(("0", "0.00", "0.005", "3")),
            }
        )
    calls = []
    for _ in range(size):
        calls.append(
            {
                "caller": rng.choice(("a", "b", "")),
                "number": "".join(rng.choices("0123", k=rng.randrange(0, 6))) if rng.random() < 0.8 else rng.choice(("08001", "0080", "1121", "116")),
                "start": f"2024-0{rng.randrange(1, 10)}-{rng.randrange(1, 29):02d}T{rng.choice(('07', '08', '17', '18', '00'))}:{rng.choice(('00', '59'))}:00",
                "seconds": rng.choice((0, 1, 59, 60, 61, 120, 3600)),
            }
        )
    return calls, tariffs
