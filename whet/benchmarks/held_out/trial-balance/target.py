"""Draws up the trial balance of a company's books."""

from decimal import Decimal


def to_cents(text):
    """Reads an amount such as '1,234.50', '(12.00)' (which is negative) or '' (which is nothing)."""
    text = text.strip(" ")
    negative = False
    if text.startswith("(") and text.endswith(")"):
        negative = True
        text = text[1:-1]
    cleaned = ""
    for character in text:
        if character not in ", ":
            cleaned += character
    if cleaned == "":
        return 0
    cents = int(Decimal(cleaned) * Decimal("100"))
    return -cents if negative else cents


def entries_of(account, journal, until):
    """Returns the entries of an account up to a day, both sides of them in cents."""
    entries = []
    for entry in journal:
        if entry["account"] == account and entry["date"] <= until:
            entries.append((entry["date"], to_cents(entry["debit"]), to_cents(entry["credit"])))
    return entries


def balance(account, journal, until):
    return sum(debit - credit for _, debit, credit in entries_of(account, journal, until))


def show(cents):
    text = f"{abs(cents) // 100:,}.{abs(cents) % 100:02d}"
    return f"({text})" if cents < 0 else text


def trial_balance(chart, journal, days):
    """Draws up the balances of all accounts at some days.

    Args:
        chart: tuples of an account's number and name. The first digit of the number is the class.
        journal: dicts of date, account, debit and credit, in any order.
        days: the last days of the periods, as the dates in the journal are written.

    Returns:
        For each account with any entry its number, name, balances at the days and the largest debit; the sums of the
        classes at the last day; and the entries on accounts that the chart does not hold.
    """
    rows = []
    for number, name in chart:
        balances = []
        for day in days:
            balances.append(show(balance(number, journal, day)))
        entries = [entry for entry in journal if entry["account"] == number]
        if len(entries) > 0:
            largest = max([to_cents(entry["debit"]) for entry in entries])
            rows.append((number, name, balances, show(largest)))
    classes = {}
    for number, _ in chart:
        total = 0
        for other, _ in chart:
            if other[:1] == number[:1] and days:
                total += balance(other, journal, days[-1])
        classes[number[:1]] = show(total)
    unknown = [entry for entry in journal if entry["account"] not in [number for number, _ in chart]]
    return {"accounts": rows, "classes": classes, "unknown": unknown}
