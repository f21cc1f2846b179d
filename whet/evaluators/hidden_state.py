"""Whether an outcome depends on anything but its input: on earlier calls, on their results, on the process."""

from __future__ import annotations

import random
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass

from whet.core.verdict import Reason
from whet.evaluators.artifacts import Artifact
from whet.evaluators.costs import MODERATE
from whet.evaluators.examination import Examination
from whet.evaluators.examiner import Step
from whet.evaluators.finding import BaselineLost, Fault, RungEndedError, sound
from whet.evaluators.inputs.source import derive
from whet.evaluators.oracle import Oracle
from whet.evaluators.pairs import Side
from whet.evaluators.patience import Patience
from whet.evaluators.processes import CallResult

AGAIN = 12
"""Inputs that are met again at the end, in reverse order."""
MUTATED = 12
"""Inputs whose results are changed, the last cheap ones that were met."""
FEWEST = 2
"""Inputs whose results are changed, and inputs that are met elsewhere, however slow the baseline is."""
MOST_ELSEWHERE = 200
"""Inputs that are met elsewhere, however cheap they are. More show state that fewer inputs reveal, and each takes a
call of every candidate that is right so far."""
ELSEWHERE_SECONDS = 2.4
"""CPU seconds of the baseline, by its class, for the inputs that are met elsewhere."""


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Another process than those of an examination.

    Attributes:
        hash_seed: its PYTHONHASHSEED.
        worker: of which warm worker it is a fork; None for a process in a sandbox of its own.
    """

    hash_seed: int
    worker: int | None

    def side(self, artifact: Artifact) -> Side:
        """Returns the way to call an artifact there."""
        return Side(artifact, self.hash_seed, self.worker)


@dataclass(frozen=True, slots=True)
class Again:
    """Has a candidate meet inputs that it has met. What shows state ends the rung, by a `RungEndedError`.

    Attributes:
        examination: of the baseline.
        oracle: judges the outcomes.
        patience: with the candidate.
    """

    examination: Examination
    oracle: Oracle
    patience: Patience

    def repeated(self, theirs: Side, met: Sequence[Step]) -> None:
        """Meets the first inputs again in the same process, in reverse order."""
        with closing(theirs.outcomes(reversed(met[:AGAIN]), self.examination.seconds)) as outcomes:
            for one, answer in self.patience.over(outcomes):
                if fault := self._different(one, answer):
                    raise _stateful("right at first, wrong when the same input came again", fault)

    def after_mutation(self, theirs: Side, met: Sequence[Step]) -> None:
        """Changes a result as a caller may, and calls again with the same input.

        What the baseline does so counts as right: it may share results itself.
        """
        chosen = _quick(met)[-MUTATED:]
        wanted = self.examination.after_mutation(chosen)
        with closing(theirs.outcomes(chosen, self.examination.seconds, "mutate")) as outcomes:
            for (one, actual), expected in zip(self.patience.over(outcomes), wanted, strict=True):
                if isinstance(expected, Fault):
                    return
                outcome, _ = sound(actual)
                if self.oracle.judge(one.item, one.expected, expected[0]) is not None:
                    continue
                if fault := self.oracle.judge(one.item, expected[0], outcome):
                    raise _stateful(
                        "a result is kept: wrong once the caller has changed what an earlier call returned", fault
                    )

    def order(self, met: Sequence[Step]) -> list[Step]:
        """Returns inputs in another order, as many as the baseline's cost allows."""
        order = _quick(met)
        random.Random(derive(self.examination.seed, "elsewhere")).shuffle(order)
        kept: list[Step] = []
        spent = 0.0
        for one in order:
            if len(kept) < FEWEST or (spent + one.cost <= ELSEWHERE_SECONDS and len(kept) < MOST_ELSEWHERE):
                kept.append(one)
                spent += one.cost
        return kept

    def compare_elsewhere(self, candidate: Artifact, order: Sequence[Step], elsewhere: Elsewhere) -> None:
        """Meets inputs in another process and under another hash seed.

        Where the candidate differs, the baseline is asked for the same: what it does counts as right.

        Args:
            candidate: gets a process of its own.
            order: inputs with the outcomes of the first processes.
            elsewhere: that process.
        """
        with closing(elsewhere.side(candidate)) as theirs:
            theirs.open()
            with closing(theirs.outcomes(order, self.examination.seconds)) as outcomes:
                for number, (one, answer) in enumerate(self.patience.over(outcomes)):
                    if fault := self._different(one, answer):
                        if self._baseline_differs(order[: number + 1], elsewhere):
                            return
                        raise _stateful("right in one process, wrong in another that met other inputs before", fault)

    def _baseline_differs(self, order: Sequence[Step], elsewhere: Elsewhere) -> bool:
        """Returns whether the baseline itself gives other outcomes in such a process."""
        ours = elsewhere.side(self.examination.baseline)
        with closing(ours), closing(ours.outcomes(order, self.examination.seconds)) as outcomes:
            for one, answer in outcomes:
                if isinstance(answer, Fault):
                    raise RungEndedError(BaselineLost(Reason.NONDETERMINISTIC, f"the baseline: {answer.detail}"))
                if self._different(one, answer):
                    return True
        return False

    def _different(self, one: Step, answer: CallResult) -> Fault | None:
        if isinstance(answer, Fault):
            return Fault(answer.reason, f"{answer.detail}\n{self.oracle.input_text(one.item)}")
        return self.oracle.judge(one.item, one.expected, answer[0])


def _quick(met: Sequence[Step]) -> list[Step]:
    """Returns the inputs that do not take the baseline long; a few that take it least where all do."""
    quick = [one for one in met if one.cost <= MODERATE]
    return quick if len(quick) >= FEWEST else sorted(met, key=lambda one: one.cost)[:FEWEST]


def _stateful(what: str, fault: Fault) -> RungEndedError:
    if fault.reason is Reason.TIMEOUT:  # slow is not stateful
        return RungEndedError(fault)
    return RungEndedError(Fault(Reason.NONDETERMINISTIC, f"{what}: {fault.detail}"))
