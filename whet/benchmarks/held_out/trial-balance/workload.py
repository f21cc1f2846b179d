"""The books of a small company for some months."""

import re

sizes = [0, 1, 4, 12, 60, 300, 400]

AMOUNT = re.compile(r" *\(?[0-9][0-9,]{0,12}(\.[0-9]{2})?\)? *| *")


def written(cents, rng):
    if not cents:
        return ""
    text = f"{cents / 100:,.2f}" if rng.random() < 0.8 else f"{cents / 100:.2f}"
    return f"({text})" if rng.random() < 0.05 else text


def make_input(size, rng):
    numbers = sorted(rng.sample(range(1000, 10000), 14))
    chart = [(str(number), f"account {number}") for number in numbers]
    journal = []
    for _ in range(size):
        date = f"2024-{rng.randrange(1, 7):02d}-{rng.randrange(1, 29):02d}"
        cents = rng.randrange(1, 10**6)
        one, other = rng.sample(chart, 2)
        journal.append({"date": date, "account": one[0], "debit": written(cents, rng), "credit": ""})
        account = other[0] if rng.random() < 0.97 else "9999x"
        journal.append({"date": date, "account": account, "debit": "", "credit": written(cents, rng)})
    return chart, journal, ["2024-02-31", "2024-04-30", "2024-06-30"]


def valid(args):
    """Amounts are written as in books; an entry has its four keys, all text."""
    chart, journal, days = args
    for entry in journal:
        if set(entry) != {"date", "account", "debit", "credit"}:
            return False
        for side in ("debit", "credit"):
            text = entry[side]
            if not AMOUNT.fullmatch(text) or not text.isascii() or text.count("(") != text.count(")"):
                return False
    return all(len(row) == 2 and isinstance(row[0], str) for row in chart) and all(isinstance(day, str) for day in days)


def check(args, output):
    chart, journal, days = args
    assert len(output["accounts"]) <= len(chart)
    assert len(output["unknown"]) <= len(journal)
    assert all(len(row[2]) == len(days) for row in output["accounts"])


def make_input_odd(size, rng):
    """Accounts that come twice in the chart or have no number, no days, days out of order, amounts of nothing, negative."""
    numbers = rng.choices(["1", "10", "11", "2", "", "é1"], k=rng.randrange(0, 6))
    chart = [(number, rng.choice(("cash", "rent", ""))) for number in numbers]
    journal = []
    for _ in range(size):
        journal.append(
            {
                "date": rng.choice(("2024-01-01", "2024-01-31", "2024-02-01", "")),
                "account": rng.choice(["1", "10", "11", "2", "", "3"]),
                "debit": rng.choice(("", " ", "0", "0.00", "1,2,3.45", "(7.00)", " 5.05 ", "12", "0.07")),
                "credit": rng.choice(("", "", "1.10", "(1,000.00)", "999,999.99")),
            }
        )
    return chart, journal, rng.choice(([], ["2024-01-31"], ["2024-01-31", "2024-01-01"], ["", "2025"]))
