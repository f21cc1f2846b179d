"""Invoices: what customers owe for the parcels that were carried for them."""

CURRENCIES = {"EUR": 100, "CHF": 100, "JPY": 1}


def in_units(cents, currency):
    """Returns an amount as people write it."""
    parts = CURRENCIES[currency]
    return f"{cents / parts:.2f} {currency}" if parts > 1 else f"{cents} {currency}"


def statement_lines(invoices, customers):
    """Joins invoices with their customers.

    Args:
        invoices: dicts of number, customer, cents and paid.
        customers: dicts of id, name and currency.

    Returns:
        a tuple of number, name, amount and state for each invoice whose customer is known, and the cents that are open
        by customer.
    """
    lines = []
    still_open = {}
    for invoice in invoices:
        for customer in customers:
            if customer["id"] == invoice["customer"]:
                state = "paid" if invoice["paid"] else "open"
                lines.append((invoice["number"], customer["name"], invoice["cents"], state))
                if not invoice["paid"]:
                    still_open[customer["name"]] = still_open.get(customer["name"], 0) + invoice["cents"]
    return lines, still_open


def overdue(invoices, today, days):
    """Returns the numbers of invoices that are open for longer than some days."""
    return [invoice["number"] for invoice in invoices if not invoice["paid"] and today - invoice["day"] > days]


def reminders(lines):
    """Returns a sentence for each line that is open."""
    return [f"{name}: {number} over {cents} is open" for number, name, cents, state in lines if state == "open"]
