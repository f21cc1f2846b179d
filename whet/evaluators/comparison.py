"""The differential rung of a candidate that runs: its outcomes beside the baseline's, and the conditions that hold."""

from __future__ import annotations

from dataclasses import replace

from whet.core.task import Task
from whet.evaluators.differential import compare, concluded
from whet.evaluators.examination import Examination
from whet.evaluators.finding import Inconclusive, Passed, RungEndedError
from whet.evaluators.hidden_state import Elsewhere
from whet.evaluators.needs.attack import with_conditions
from whet.evaluators.oracle import Oracle
from whet.evaluators.pairs import Side


def compared(
    task: Task,
    examination: Examination,
    theirs: Side,
    oracle: Oracle,
    elsewhere: Elsewhere | None,
    explain: bool,
    strengthened: str,
) -> Passed | Inconclusive:
    """Returns what a comparison on the inputs of an examination found.

    Args:
        task: that is judged.
        examination: the inputs, with the baseline's outcomes.
        theirs: the candidate's process.
        oracle: compares two outcomes.
        elsewhere: the processes of another order and hash seed; None to leave them out.
        explain: whether the smallest input that shows a fault is looked for.
        strengthened: how the inputs were strengthened when the baseline was validated; empty where they were not.

    Raises:
        RungEndedError: the candidate differs.
    """
    found = compare(examination, theirs, oracle, elsewhere, explain)
    evidence = {**found.evidence, "hash_seed": examination.hash_seed}
    if floats := oracle.float_evidence():
        evidence["floats"] = floats
    if found.fault is not None:
        raise RungEndedError(replace(found.fault, evidence={**found.fault.evidence, **evidence}))
    evidence["strengthened"] = strengthened
    scaled = task.module.scaled if task.module is not None else ""
    if scaled:
        evidence["scale"] = scaled
    concluding = concluded(replace(found, evidence=evidence), [f"scaled to this machine: {scaled}"] if scaled else [])
    if isinstance(concluding, Inconclusive):
        return concluding
    return with_conditions(concluding, task, examination, theirs, oracle)
