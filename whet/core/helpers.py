"""What became of the functions that a rewrite has in common with the original."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Helpers:
    """Functions of the same name and parameters on both sides, compared on calls that the original makes.

    Attributes:
        wrong: the lowest one that differs: none that it calls does. Empty where none was found.
        detail: the smallest of those calls on which it differs, and how.
        agreeing: those that agree on all calls that were tried.
    """

    wrong: str = ""
    detail: str = ""
    agreeing: tuple[str, ...] = ()
