"""The mutants of a task, whatever its language."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import partial

from whet.core.candidate import Candidate, content_id
from whet.core.task import Task
from whet.evaluators.kernels.robust import FORWARD, SLOTS
from whet.evaluators.mutants.base import Change, Mutant

ORIGIN = "mutant"
MUTABLE = ("python", "c", "cpp", "asm")
"""Languages that faults can be made in; of a routine in assembly they are those of its reference."""


def mutants(task: Task, seed: int) -> Iterator[Mutant]:
    """Yields all distinct mutants of a task's target, in an order that the seed gives.

    Left out are those that are the baseline itself once parsed, or another mutant.

    Args:
        task: of which only the target function, or the target program, is changed.
        seed: the same seed gives the same mutants in the same order.
    """
    changes, meaning = _family(task)
    random.Random(seed).shuffle(changes)
    source, _ = task.original
    parent = content_id(source)
    met = {meaning(source)}
    for change in changes:
        text = change.render()
        parsed = meaning(text)
        if parsed is None or parsed in met:
            continue
        met.add(parsed)
        yield Mutant(change.operator, change.line, Candidate(text, parent, f"{ORIGIN}: {change.operator}"))


def _family(task: Task) -> tuple[list[Change], Callable[[str], str | None]]:
    """Returns all faults that could be made, and what tells two texts of the language apart."""
    if task.written not in MUTABLE:
        return [], str
    if task.written == "python":
        from whet.evaluators.mutants import python

        symbol = task.symbol
        if task.module is not None:
            symbol = SLOTS[FORWARD] if task.module.harness else f"{symbol}.forward"
        return python.changes(task.source, symbol), python.meaning
    from whet.evaluators.mutants import native

    source, language = task.original if task.reference is not None else (task.source, task.written)
    return native.changes(source, language), partial(native.meaning, language=language)
