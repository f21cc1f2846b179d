"""The mutants of a task, whatever its language."""

from __future__ import annotations

import random
from collections.abc import Iterator

from whet.core.candidate import Candidate, content_id
from whet.core.task import Task
from whet.evaluators.languages.registry import language_of_text
from whet.evaluators.mutants.base import Mutant

ORIGIN = "mutant"


def mutants(task: Task, seed: int) -> Iterator[Mutant]:
    """Yields all distinct mutants of a task's target, in an order that the seed gives.

    There are none in a language that whet can make no faults in; in a routine in assembly they are those of its
    reference. Left out are those that are the baseline itself once parsed, or another mutant.

    Args:
        task: of which only the target function, or the target program, is changed.
        seed: the same seed gives the same mutants in the same order.
    """
    language = language_of_text(task)
    if language is None or language.faults is None:
        return
    changes, meaning = language.faults(task)
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
