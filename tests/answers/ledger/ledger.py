"""A ledger of accounts."""
from __future__ import annotations


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
            row = []
            for day in days:
                total = 0
                for when, amount in account.entries:
                    if when <= day:
                        total = total + amount
                row.append(total)
            result[account.name] = row
        return result
