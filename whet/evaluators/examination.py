"""What the baseline makes of one sequence of fresh inputs: done once for all candidates that meet them.

The inputs follow from one seed. They are secret and fresh for a candidate only if it existed before the seed was used:
so one examination serves candidates that were all there before its first input was drawn; see
`whet.evaluators.batches`.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing

from whet.core.task import Kind
from whet.evaluators.artifacts import Artifact
from whet.evaluators.costs import Costs
from whet.evaluators.examiner import Cut, Examiner, Step
from whet.evaluators.finding import Fault
from whet.evaluators.inputs.source import InputSource, derive
from whet.evaluators.inputs.target_text import RequiredOutcome
from whet.evaluators.needs.broken_inputs import BrokenInputs
from whet.evaluators.oracle import Oracle
from whet.evaluators.pairs import at_once
from whet.evaluators.processes import CallResult
from whet.evaluators.sequences import Rehearsal

FIRST_AT_ONCE = 8
"""Steps of the first group; later ones are larger. Most that is wrong is wrong on one of the first inputs."""


class Examination:
    """A sequence of steps that is made as far as somebody wants it. Safe for several threads.

    Attributes:
        baseline: whose outcomes they have.
        source: draws the inputs.
        seed: of the inputs.
        hash_seed: of the baseline's process, and of those of the candidates.
        seconds: that one call may take.
        failed: how the baseline failed on an input of the workload, where it did: no step follows then.
    """

    def __init__(
        self,
        baseline: Artifact,
        source: InputSource,
        seed: int,
        hash_seed: int,
        seconds: float,
        costs: Costs | None = None,
    ) -> None:
        """Begins without any process.

        Args:
            baseline: see the attributes.
            source: see the attributes.
            seed: see the attributes.
            hash_seed: see the attributes.
            seconds: see the attributes.
            costs: of the baseline; None measures them first.
        """
        self.baseline = baseline
        self.source = source
        self.seed = seed
        self.hash_seed = hash_seed
        self.seconds = seconds
        self._examiner = Examiner(baseline, source, seed, hash_seed, seconds, costs)
        self._lock = threading.Lock()
        self.failed: Fault | None = None
        self._groups: list[list[Step]] = []
        self._coming = at_once(self._steps(), FIRST_AT_ONCE)
        self._complete = False
        self._error: BaseException | None = None
        self._after_mutation: dict[bytes, CallResult] = {}
        self._rehearsal: Rehearsal | None = None
        self._broken_inputs: BrokenInputs | None = None

    @property
    def program(self) -> bool:
        """Whether the inputs are texts that programs read."""
        return self.source.task.kind is Kind.PROGRAM

    @property
    def discarded(self) -> int:
        """Inputs after the last step that ask nothing of a candidate."""
        return self._examiner.discarded

    @property
    def cut(self) -> Mapping[str, Cut]:
        """What was planned and not tried, by the stage; complete when all steps are made."""
        return self._examiner.cut

    def groups(self) -> Iterator[Sequence[Step]]:
        """Yields all steps to everybody, those together that are cheap enough to be met in one exchange.

        Raises:
            UsageError: the workload's generator failed.
            SandboxError: the baseline's sandbox could not be made.
        """
        number = 0
        while (group := self._group(number)) is not None:
            yield group
            number += 1

    def asked(self, outcome: bytes) -> RequiredOutcome:
        """Returns what the baseline's outcome on another input asks of a candidate."""
        with self._lock:
            return self._examiner.asked(outcome, textual=False)

    def after_mutation(self, met: Sequence[Step]) -> list[CallResult]:
        """Returns what the baseline gives for inputs after its first results on them were changed by the caller."""
        with self._lock:
            new = [one for one in met if one.item.payload not in self._after_mutation]
            with closing(self._examiner.ours.outcomes(new, self.seconds, "mutate")) as answers:
                self._after_mutation |= {one.item.payload: answer for one, answer in answers}
            return [self._after_mutation[one.item.payload] for one in met]

    @property
    def rehearsal(self) -> Rehearsal:
        """What the baseline makes of sequences of calls, when all steps are made."""
        with self._lock:
            if self._rehearsal is None:
                seed = derive(self.seed, "sequences")
                met = self._examiner.met
                self._rehearsal = Rehearsal(self.baseline, self.source, met, seed, self.hash_seed, self.seconds)
            return self._rehearsal

    def broken_inputs(self, oracle: Oracle) -> BrokenInputs:
        """Returns what attacks a candidate's needs, when all steps are made.

        Args:
            oracle: compares outcomes.
        """
        with self._lock:
            if self._broken_inputs is None:
                self._broken_inputs = BrokenInputs(self.source, oracle, self._examiner.met, self._examiner.ours)
            return self._broken_inputs

    def close(self) -> None:
        """Ends the baseline's process."""
        with self._lock:
            self._examiner.ours.close()

    def _steps(self) -> Iterator[Step]:
        for step in self._examiner.steps():
            if isinstance(step, Fault):
                self.failed = step
            else:
                yield step

    def _group(self, number: int) -> Sequence[Step] | None:
        with self._lock:
            while len(self._groups) <= number and not self._complete:
                if self._error is not None:
                    raise self._error  # to everybody: a sequence cut short would show less than it seems to
                try:
                    self._groups.append(next(self._coming))
                except StopIteration:
                    self._complete = True
                except BaseException as error:
                    self._error = error
                    raise
            return self._groups[number] if number < len(self._groups) else None
