"""Streams of a few symbols in milliseconds, a little out of order."""

sizes = [0, 1, 3, 10, 60, 200, 300]


def make_input(size, rng):
    symbols = ["ABC", "BCD", "CDE", "DEF"]
    quotes = []
    for number in range(size):
        bid = rng.randrange(900, 1100)
        quotes.append((7 * number + rng.randrange(30), rng.choice(symbols), bid, bid + rng.randrange(1, 9)))
    trades = [(rng.randrange(7 * size + 30), rng.choice(symbols), rng.randrange(1, 500)) for _ in range(size)]
    return trades, quotes, 40


def valid(args):
    trades, quotes, most = args
    return all(len(trade) == 3 for trade in trades) and all(len(quote) == 4 for quote in quotes)


def check(args, output):
    trades, quotes, most = args
    joined, totals = output
    assert [row[:3] for row in joined] == trades
    assert sum(matched + missed for matched, missed, _ in totals.values()) == len(trades)


def make_input_ties(size, rng):
    """Few times, equal ones, negative ones, symbols that nobody quotes, and ages of none or any."""
    pool = rng.choice(((0,), (0, 1), (-3, 0, 4), tuple(range(-20, 20))))
    symbols = rng.choice((["A"], ["A", "B"], ["", "A", "a"]))
    quotes = [(rng.choice(pool), rng.choice(symbols), number, -number) for number in range(size)]
    trades = [(rng.choice(pool) + rng.choice((0, 1)), rng.choice([*symbols, "Z"]), number) for number in range(size)]
    return trades, quotes, rng.choice((0, 1, 4, 100))
