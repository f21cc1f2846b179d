"""The ledger: what the depot earned and spent, day by day."""

from itertools import pairwise


def rolling_balances(amounts, days):
    """Returns for each day the sum of the amounts of the last days, that day included."""
    balances = []
    for day in range(1, len(amounts) + 1):
        start = max(0, day - days)
        balances.append(sum(amounts[start:day]))
    return balances


def worst_run(balances):
    """Returns the longest run of days on which the balance fell."""
    longest = current = 0
    for before, after in pairwise(balances):
        current = current + 1 if after < before else 0
        longest = max(longest, current)
    return longest


def by_month(amounts, first_day):
    """Returns the sums of months of thirty days."""
    months = {}
    for day, amount in enumerate(amounts, first_day):
        months[day // 30] = months.get(day // 30, 0) + amount
    return months


def signs(amounts):
    """Returns how many amounts were earned, spent and nothing."""
    return sum(a > 0 for a in amounts), sum(a < 0 for a in amounts), sum(a == 0 for a in amounts)
