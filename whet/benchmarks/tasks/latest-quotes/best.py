"""Gives each trade the quote that stood when it was made: a temporal (as-of) join of two streams of events."""

from bisect import bisect_right


def latest_quotes(trades, quotes, most):
    streams = {}
    for quote in quotes:
        streams.setdefault(quote[1], []).append(quote)
    times = {}
    for symbol, stream in streams.items():
        stream.sort(key=lambda quote: quote[0])
        times[symbol] = [quote[0] for quote in stream]
    joined = []
    totals = {}
    for when, symbol, amount in trades:
        known = times.get(symbol, ())
        at = bisect_right(known, when) - 1
        matched, missed, age = totals.get(symbol, (0, 0, 0))
        if at < 0 or when - known[at] > most:
            joined.append((when, symbol, amount, None, None))
            totals[symbol] = (matched, missed + 1, age)
        else:
            _, _, bid, ask = streams[symbol][at]
            joined.append((when, symbol, amount, bid, ask))
            totals[symbol] = (matched + 1, missed, age + when - known[at])
    return joined, totals
