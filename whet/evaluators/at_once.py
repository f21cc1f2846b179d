"""Verdicts that follow from the two texts alone, so that nothing has to be run for them."""

from __future__ import annotations

from dataclasses import replace

from whet.core.candidate import Candidate
from whet.core.options import Options
from whet.core.rungs import CHECKS
from whet.core.task import Task
from whet.core.verdict import Reason, Rung, RungStatus, Verdict
from whet.evaluators.finding import Fault
from whet.evaluators.languages.registry import language_of_task
from whet.evaluators.rungs import climb_rung
from whet.evaluators.screening import screened
from whet.evaluators.syntax.fingerprint import fingerprint

TO_THE_LETTER = "it is the original, to the letter"
IN_EFFECT = "it is the original, but for layout, comments and docstrings"


def decided_by_text(task: Task, candidate: Candidate, options: Options) -> Verdict | None:
    """Returns the verdict on a rewrite that falls at the screen, or is the original; None for all others.

    Args:
        task: whose target it replaces.
        candidate: the rewrite.
        options: as the user gave them.
    """
    if task.launch is not None or task.module is not None or task.untimed:
        return None  # what judges those depends on the machine
    if language_of_task(task).parse(task) is not None:
        return None  # the baseline is at fault
    screen, found = climb_rung("screen", lambda: screened(task, candidate.source), None)
    if isinstance(found, Fault):
        return Verdict(candidate.id, (screen,))
    # What an assembly routine is timed against is made from its reference, not from its own text.
    if not options.times or task.reference is not None or not (same := _same(task, candidate.source)):
        return None
    skipped = (Rung(name, RungStatus.SKIPPED, Reason.NOT_ASKED, same) for name in CHECKS if name != "screen")
    measure = Rung("measure", RungStatus.FAILED, Reason.NOT_FASTER, f"{same}; nothing was run")
    return Verdict(candidate.id, (replace(screen, detail=f"{screen.detail}; {same}"), *skipped, measure))


def _same(task: Task, source: str) -> str:
    """Returns in how far a text is that of the target; empty where it may mean something else."""
    if source == task.source:
        return TO_THE_LETTER
    ours, theirs = task.parts(task.source), task.parts(source)
    if ours.keys() != theirs.keys():
        return ""
    alike = all(fingerprint(task.written, ours[name]) == fingerprint(task.written, theirs[name]) for name in ours)
    return IN_EFFECT if alike else ""
