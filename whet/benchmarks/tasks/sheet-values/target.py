"""Computes the cells of a small spreadsheet."""

import re

ERROR = "#ERROR"


class Sheet:
    """Cells by name, such as ``B12``.

    Args:
        cells: dict of names to whole numbers or texts. A text that begins with ``=`` is a formula: numbers, cells and
            sums of a stretch of one column such as ``SUM(A1:A9)``, joined by ``+``, ``-`` and ``*`` from left to right.
    """

    def __init__(self, cells):
        self.cells = cells

    def tokens(self, formula):
        """Returns the parts of a formula, or None where it cannot be read."""
        parts = []
        rest = formula[1:]
        while rest != "":
            match = re.match(r"\s*(SUM\([A-Z]+\d+:[A-Z]+\d+\)|[A-Z]+\d+|\d+|[-+*])\s*", rest)
            if match is None:
                return None
            parts.append(match.group(1))
            rest = rest[match.end() :]
        return parts

    def sum_of(self, stretch, path):
        first, last = re.match(r"SUM\((.*):(.*)\)", stretch).groups()
        column = re.match(r"[A-Z]+", first).group()
        if re.match(r"[A-Z]+", last).group() != column:
            return None
        total = 0
        for row in range(int(first[len(column) :]), int(last[len(column) :]) + 1):
            value = self.value(f"{column}{row}", path)
            if value == ERROR:
                return None
            if isinstance(value, int):
                total = total + value
        return total

    def operand(self, part, path):
        """Returns the number that a part of a formula stands for, or None."""
        if part.isdecimal():
            return int(part)
        if part.startswith("SUM"):
            return self.sum_of(part, path)
        value = self.value(part, path)
        if value is None:
            return 0
        return value if isinstance(value, int) else None

    def value(self, name, path=[]):
        """Returns the value of a cell: a number, a text, None where it is empty or the error."""
        content = self.cells.get(name)
        if not isinstance(content, str) or not content.startswith("="):
            return content
        if name in path:
            return ERROR
        parts = self.tokens(content)
        if parts is None or len(parts) % 2 == 0:
            return ERROR
        total = 0
        for i in range(0, len(parts), 2):
            sign = parts[i - 1] if i > 0 else "+"
            if parts[i] in ("+", "-", "*") or sign not in ("+", "-", "*"):
                return ERROR
            number = self.operand(parts[i], path + [name])
            if number is None:
                return ERROR
            if sign == "+":
                total = total + number
            elif sign == "-":
                total = total - number
            else:
                total = total * number
        return total

    def values(self):
        """Returns the values of all cells, the names of those that are errors, sorted, and a summary of each column.

        The summary is a tuple of how many numbers the column has, their sum and the largest.
        """
        found = {}
        for name in self.cells:
            found[name] = self.value(name)
        errors = []
        columns = {}
        for name in found:
            if found[name] == ERROR:
                errors = errors + [name]
            elif isinstance(found[name], int):
                column = name.rstrip("0123456789")
                if column not in columns:
                    columns[column] = []
                columns[column] = columns[column] + [found[name]]
        summary = {}
        for column in columns:
            numbers = columns[column]
            summary[column] = (len(numbers), sum(numbers), sorted(numbers, reverse=True)[0])
        return found, sorted(errors), summary
