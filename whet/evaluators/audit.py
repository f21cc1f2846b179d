"""How strong the oracle of a task is: candidates that do no work and mutants of the baseline, killed or alive."""

from __future__ import annotations

import secrets
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from whet.core.audit import Audit, MutantOutcome
from whet.core.errors import UsageError
from whet.core.events import Event, EventKind, Listener, null_listener
from whet.core.options import Options
from whet.core.result import TaskName
from whet.core.task import NATIVE_ISA, Task
from whet.evaluators.environment import in_environment
from whet.evaluators.inputs.source import derive
from whet.evaluators.ladder import Ladder, open_ladder
from whet.evaluators.mutants.base import Mutant
from whet.evaluators.mutants.registry import mutants as all_mutants
from whet.evaluators.mutants.usual import UsualProtocol
from whet.evaluators.targets import read_task

MUTANTS = 60
"""Mutants that are tried where the user states no number. Each takes a build and a check; the share that survives has a
standard error of 0.065 at most, which falls with the square root of the number."""
PATIENCE = 2.0
"""Seconds that a call of a mutant may take, or ten times the baseline's own where that is more: many never end."""


def audit(target: str, *, mutants: int = MUTANTS, listener: Listener = null_listener, **options: Any) -> Audit:
    """Tries an oracle on candidates that it must reject.

    Args:
        target: as after ``whet audit``.
        mutants: how many to try at most; chosen at random among all that the target has.
        listener: hears what happens.
        **options: the fields of `whet.core.options.Options`.

    Raises:
        UsageError: target, workload or an option cannot be used.
        BaselineError: nothing could be compared with this baseline.
    """
    if mutants < 0:
        raise UsageError(f"--mutants {mutants} is negative")
    settings = in_environment(target, Options(**options))
    return audit_task(read_task(target, settings, listener), settings, mutants, listener)


def audit_task(task: Task, settings: Options, mutants: int, listener: Listener = null_listener) -> Audit:
    """See `audit`."""
    start = time.perf_counter()
    if task.launch is not None:  # what is tried is the kernel's reference and its inputs, and those are of this machine
        task = replace(task, launch=None, isa=NATIVE_ISA, standing=False)
    seed = settings.seed if settings.seed is not None else secrets.randbits(63)
    ladder = open_ladder(task, replace(settings, until="differential"), seed, listener, explain=False)
    try:
        listener(Event(EventKind.STAGE, "running the baseline and candidates that do no work"))
        ladder.examine(PATIENCE)
        made = list(all_mutants(task, derive(seed, "mutants")))
        listener(Event(EventKind.STAGE, f"trying {min(mutants, len(made))} of {len(made)} mutants"))
        usual = UsualProtocol(ladder, derive(seed, "usual"))
        with ThreadPoolExecutor(settings.workers) as pool:
            tried = tuple(pool.map(lambda mutant: _try(ladder, usual, mutant, listener), made[:mutants]))
        name = TaskName(task.name, task.language, task.target)
        baseline = ladder.baseline
        spent = time.perf_counter() - start
        return Audit(name, seed, baseline.nulls, baseline.strengthened, len(made), tried, spent, baseline.suspicions)
    finally:
        ladder.close()


def _try(ladder: Ladder, usual: UsualProtocol, mutant: Mutant, listener: Listener) -> MutantOutcome:
    told = {"candidate": mutant.id, "origin": f"line {mutant.line}, {mutant.operator}"}
    listener(Event(EventKind.CANDIDATE, "checking", {**told, "state": "checking"}))
    failed = ladder.check(mutant.candidate).failed
    outcome = MutantOutcome(
        mutant.id,
        mutant.operator,
        mutant.line,
        mutant.candidate.diff(ladder.task.source, ladder.task.filename),
        None if failed is None else failed.name,
        None if failed is None else failed.reason,
        usual=None,
    )
    if not outcome.stillborn:
        outcome = replace(outcome, usual=usual.rejects(mutant.candidate))
    listener(Event(EventKind.CANDIDATE, "done", {**told, "state": "done", "reason": outcome.reason or "survived"}))
    return outcome
