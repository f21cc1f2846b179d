"""Draws up the trial balance of a company's books."""

from decimal import Decimal

CLEAN = str.maketrans("", "", ", ")


def to_cents(text):
    text = text.strip(" ")
    negative = text.startswith("(") and text.endswith(")")
    if negative:
        text = text[1:-1]
    text = text.translate(CLEAN)
    if not text:
        return 0
    whole, point, part = text.partition(".")
    cents = int(whole) * 100 + int(part) if point and len(part) == 2 and whole.isdigit() and part.isdigit() else int(Decimal(text) * 100)
    return -cents if negative else cents


def show(cents):
    text = f"{abs(cents) // 100:,}.{abs(cents) % 100:02d}"
    return f"({text})" if cents < 0 else text


def trial_balance(chart, journal, days):
    entries = {number: [] for number, _ in chart}
    unknown = []
    for entry in journal:
        found = entries.get(entry["account"])
        if found is None:
            unknown.append(entry)
        else:
            found.append((entry["date"], to_cents(entry["debit"]), to_cents(entry["credit"])))
    made = {}
    for number, booked in entries.items():
        if booked:
            sums = [sum([debit - credit for date, debit, credit in booked if date <= day]) for day in days]
            made[number] = [show(total) for total in sums], show(max([debit for _, debit, _ in booked])), sums
    classes = {}
    for number, _ in chart:
        last = made[number][2][-1] if number in made and days else 0
        classes[number[:1]] = classes.get(number[:1], 0) + last
    rows = [(number, name, list(made[number][0]), made[number][1]) for number, name in chart if number in made]
    return {"accounts": rows, "classes": {key: show(total) for key, total in classes.items()}, "unknown": unknown}
