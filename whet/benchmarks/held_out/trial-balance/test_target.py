from target import trial_balance

CHART = [("1000", "cash"), ("1200", "bank"), ("4000", "sales")]


def entry(date, account, debit="", credit=""):
    return {"date": date, "account": account, "debit": debit, "credit": credit}


def test_empty_books():
    assert trial_balance(CHART, [], ["2024-01-31"]) == {
        "accounts": [],
        "classes": {"1": "0.00", "4": "0.00"},
        "unknown": [],
    }


def test_balances_at_the_days():
    journal = [entry("2024-01-05", "1000", "1,234.50"), entry("2024-02-01", "1000", credit="2000.00")]
    assert trial_balance(CHART, journal, ["2024-01-31", "2024-02-01"])["accounts"] == [
        ("1000", "cash", ["1,234.50", "(765.50)"], "1,234.50")
    ]


def test_classes_are_summed_at_the_last_day():
    journal = [entry("1", "1000", "(1.00)"), entry("1", "1200", "3"), entry("1", "4000", credit="2.00")]
    assert trial_balance(CHART, journal, ["0", "1"])["classes"] == {"1": "2.00", "4": "(2.00)"}


def test_unknown_accounts_are_told():
    journal = [entry("1", "5000", "1.00")]
    assert trial_balance(CHART, journal, [])["unknown"] == journal
