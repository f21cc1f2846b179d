"""What operators join, in parts."""

from __future__ import annotations

import libcst as cst


def operands(condition: cst.BaseExpression, word: type[cst.BaseBooleanOp]) -> list[cst.BaseExpression]:
    """Returns the conditions that ``and`` (or ``or``) joins, in the order of the text."""
    found: list[cst.BaseExpression] = []
    pending = [condition]
    while pending:
        here = pending.pop()
        if isinstance(here, cst.BooleanOperation) and isinstance(here.operator, word):
            pending.extend((here.right, here.left))
        else:
            found.append(here)
    return found


def summands(value: cst.BaseExpression) -> list[cst.BaseExpression]:
    """Returns the terms of ``a + b + c``; a sum in brackets is one term."""
    terms: list[cst.BaseExpression] = []
    while isinstance(value, cst.BinaryOperation) and isinstance(value.operator, cst.Add) and not value.lpar:
        terms.append(value.right)
        value = value.left
    return [value, *reversed(terms)]
