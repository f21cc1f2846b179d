"""Computes the cells of a small spreadsheet."""

import re

ERROR = "#ERROR"
TOKEN = re.compile(r"\s*(?:(SUM)\(([A-Z]+)(\d+):([A-Z]+)(\d+)\)|([A-Z]+\d+)|(\d+)|([-+*]))\s*")


class Sheet:
    def __init__(self, cells):
        self.cells = cells

    def values(self):
        known = {}
        found = {name: self._value(name, known) for name in self.cells}
        errors = sorted([name for name, value in found.items() if value == ERROR])
        columns = {}
        for name, value in found.items():
            if isinstance(value, int):
                columns.setdefault(name.rstrip("0123456789"), []).append(value)
        summary = {column: (len(numbers), sum(numbers), max(numbers)) for column, numbers in columns.items()}
        return found, errors, summary

    def _value(self, name, known):
        """Returns a cell's value; a cell that is being computed is an error, and so is all that leads to it."""
        if name in known:
            return known[name]
        content = self.cells.get(name)
        if not isinstance(content, str) or not content.startswith("="):
            known[name] = content
            return content
        known[name] = ERROR
        value = known[name] = self._formula(content, known)
        return value

    def _formula(self, text, known):
        at, end = 1, len(text)
        operands, signs = [], ["+"]
        while at < end:
            match = TOKEN.match(text, at)
            if match is None:
                return ERROR
            at = match.end()
            sign = match.group(8)
            if (sign is None) != (len(operands) < len(signs)):
                return ERROR
            if sign is None:
                operands.append(match)
            else:
                signs.append(sign)
        if len(operands) != len(signs):
            return ERROR
        total = 0
        for sign, match in zip(signs, operands):
            number = self._operand(match, known)
            if number is None:
                return ERROR
            if sign == "+":
                total += number
            elif sign == "-":
                total -= number
            else:
                total *= number
        return total

    def _operand(self, match, known):
        word, column, first, other, last, cell, digits, _ = match.groups()
        if digits:
            return int(digits)
        if cell:
            value = self._value(cell, known)
            return 0 if value is None else value if isinstance(value, int) else None
        if column != other:
            return None
        total = 0
        for row in range(int(first), int(last) + 1):
            value = self._value(f"{column}{row}", known)
            if value == ERROR:
                return None
            if isinstance(value, int):
                total += value
        return total
