"""Single steps: which cases are taken so, and how many instructions a call takes."""

from __future__ import annotations

import re
from collections.abc import Sequence

from whet.core.signature import Role, Signature
from whet.evaluators.abi.cases import Case
from whet.sandbox.toolchains.driver import DriverRun

SIZES = (0, 1, 2, 3, 5, 8, 16, 17, 33, 64)
"""Of the cases that are taken step by step: small ones, and those around the ends of vectors."""
FEW = 6
"""Cases that are taken step by step where sizes do not tell them apart. All cases share `MOST_STEPS` of the deck, so
more of them leave fewer steps to each; fewer count the instructions of fewer calls."""
LINE = re.compile(rb"^Trace \d+: 0x[0-9a-f]+ \[[0-9a-f]+/([0-9a-f]+)/", re.MULTILINE)
"""What qemu logs of an executed block: of one instruction here."""


def chosen(signature: Signature, cases: Sequence[Case]) -> list[int]:
    """Returns the numbers of the cases that are worth single steps."""
    names = [one.name for one in signature.arguments if one.role is Role.SIZE]
    first: dict[int, int] = {}
    for number, case in enumerate(cases):
        first.setdefault(int(sum(case.numbers[name] for name in names)), number)
    found = [first[size] for size in SIZES if size in first]
    return found if names and len(found) > 1 else list(range(min(FEW, len(cases))))


def logged_offsets(log: bytes, subject: int) -> list[int]:
    """Returns the instructions of one call from an emulator's log, as offsets from the function's first.

    Args:
        log: one line an instruction.
        subject: address of the first one.
    """
    return [int(found[1], 16) - subject for found in LINE.finditer(log)]


def logged_counts(log: bytes, subject: int) -> list[int]:
    """Returns the instructions of each call from an emulator's log, which holds those of the code under test alone.

    Args:
        log: one line an instruction.
        subject: address of the function's first one: a call begins there.
    """
    counts: list[int] = []
    for found in LINE.finditer(log):
        if int(found[1], 16) == subject:
            counts.append(0)
        if counts:
            counts[-1] += 1
    return counts


def moved(ran: DriverRun, start: tuple[int, int, int], greeting: tuple[int, int, int]) -> bool:
    """Whether a run was no clean one, or had the function at another address than an earlier run."""
    return ran.code != 0 or start != greeting
