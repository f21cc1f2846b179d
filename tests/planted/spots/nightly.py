"""The nightly run: all that the depot computes once a day, on figures that are the same in every run."""

import random
import sys

from depot import cartons, checks, dispatch, invoices, labels, ledger, manifest, packing, records, tallies, yard

SENDERS = ["ACME", "BOREAS", "CIRRUS", "DELTA9", "EUROPA", "FJORD", "GALE"]
STREETS = ["harbour", "mill", "station", "garden", "church", "bridge", "market", "castle"]


def parcels(rng, count):
    """Returns scans, of which some come twice."""
    scans = [
        {"sender": rng.choice(SENDERS), "number": rng.randrange(9 * count), "grams": rng.randrange(1, 9), "lane": n % 5}
        for n in range(count)
    ]
    return scans + rng.sample(scans, count // 10)


def goods(rng, scale):
    """Works on parcels: labels, manifests, tallies, prices."""
    size = 400 * scale
    scans = parcels(rng, 5 * size // 4)
    kept, _ = manifest.distinct_parcels(scans, list(range(0, 9 * size, 60)))
    texts = [labels.label(parcel) for parcel in kept * 4] + ["illegible"] * 10
    read, unread = labels.scan_labels(texts)
    codes = [(7 * parcel["number"]) % (size // 3) for parcel in kept + kept]
    counts = tallies.frequent_codes(codes, 3)
    volumes = [parcel["grams"] * 1000 + parcel["number"] % 999 for parcel in read]
    prices = cartons.price_list(volumes[: 2 * size], [(150 * n, 100 + 3 * n) for n in range(80, 0, -1)])
    return len(kept), len(unread), len(counts), sum(prices), len(cartons.price_table(prices))


def money(rng, scale):
    """Works on invoices and the ledger."""
    customers = [{"id": n, "name": f"customer {n}", "currency": "EUR"} for n in range(75 * scale)]
    made = [
        {"number": n, "customer": rng.randrange(90 * scale), "cents": rng.randrange(9999), "paid": n % 3 > 0, "day": n}
        for n in range(330 * scale)
    ]
    lines, still_open = invoices.statement_lines(made, customers)
    amounts = [rng.randrange(-5000, 6000) for _ in range(1300 * scale)]
    balances = ledger.rolling_balances(amounts, 365)
    return len(lines), sum(still_open.values()), ledger.worst_run(balances), len(invoices.overdue(made, 400, 30))


def vehicles(rng, scale):
    """Works on lorries, crates and the yard."""
    lorries = [(rng.randrange(600), n, 1 + n % 9) for n in range(80 * scale)]
    departures = dispatch.dispatch_order(lorries, 90)
    ways = {n: [rng.randrange(700 * scale) for _ in range(4)] for n in range(700 * scale)}
    docks = [(f"dock {n}", rng.randrange(1000), rng.randrange(1000)) for n in range(20 * scale)]
    places = [(rng.randrange(1000), rng.randrange(1000)) for _ in range(160 * scale)]
    near = yard.nearest_docks(places, docks)
    ways_of = [packing.packings(length, 2) for length in range(20, 26 + scale)]
    return len(departures), sum(yard.reachable(0, ways).values()), len(set(near)), sum(ways_of)


def names(rng, scale):
    """Compares names of streets with those that are known."""
    written = ["".join(rng.choice(street) for _ in street) for street in STREETS * 3 * scale]
    return checks.likely_names(written, STREETS, 4)


def main(scale):
    """Prints what the night's figures are."""
    rng = random.Random(20)
    for turn in range(1, scale + 1):
        print(turn, goods(rng, turn), money(rng, turn), vehicles(rng, turn), len(names(rng, turn)))
    print(records.rehearse(rng, 40 * scale))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 8)
