"""A ledger of accounts."""
from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate


class Account:
    def __init__(self, name: str) -> None:
        self.name = name
        self.entries: list[tuple[int, int]] = []

    def add(self, day: int, amount: int) -> None:
        self.entries.append((day, amount))


class Ledger:
    def __init__(self, entries) -> None:
        self.accounts: list[Account] = []
        for name, day, amount in entries:
            self._find(name).add(day, amount)

    def _find(self, name: str) -> Account:
        for account in self.accounts:
            if account.name == name:
                return account
        account = Account(name)
        self.accounts.append(account)
        return account

    def balances(self, days: list[int]) -> dict[str, list[int]]:
        """Returns each account's balance at the end of each of the days."""
        result = {}
        for account in self.accounts:
            entries = sorted(account.entries, key=lambda entry: entry[0])
            whens = [when for when, _ in entries]
            sums = list(accumulate((amount for _, amount in entries), initial=0))
            result[account.name] = [sums[bisect_right(whens, day)] for day in days]
        return result
