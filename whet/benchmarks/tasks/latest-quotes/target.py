"""Gives each trade the quote that stood when it was made: a temporal (as-of) join of two streams of events."""


def quote_for(trade, quotes, most):
    """Returns the latest quote of a trade's symbol that is no later, and at most so old; of equal times the last one."""
    when, symbol, _ = trade
    found = None
    for quote in quotes:
        if quote[1] != symbol:
            continue
        if quote[0] <= when and when - quote[0] <= most:
            if found is None or quote[0] >= found[0]:
                found = quote
    return found


def latest_quotes(trades, quotes, most):
    """Joins trades with quotes.

    Args:
        trades: tuples of time, symbol and amount, in any order.
        quotes: tuples of time, symbol, bid and ask, in any order.
        most: how old a quote may be.

    Returns:
        For each trade its time, symbol and amount with bid and ask, or None for both; and by symbol how many trades found a
        quote, how many found none, and how old the quotes were together.
    """
    joined = []
    totals = {}
    for trade in trades:
        when, symbol, amount = trade
        quote = quote_for(trade, quotes, most)
        matched, missed, age = totals.get(symbol, (0, 0, 0))
        if quote is None:
            joined.append((when, symbol, amount, None, None))
            totals[symbol] = (matched, missed + 1, age)
        else:
            joined.append((when, symbol, amount, quote[2], quote[3]))
            totals[symbol] = (matched + 1, missed, age + when - quote[0])
    return joined, totals
