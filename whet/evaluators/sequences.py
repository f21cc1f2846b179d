"""Compares sequences of calls: on one object, or of one function, with the state that each call leaves.

Each side meets all sequences in one process that has met nothing else. What differs there is met again in fresh
processes, alone where that shows it, and made simpler.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial

from whet.core.task import Task
from whet.core.verdict import Reason
from whet.evaluators.artifacts import Artifact
from whet.evaluators.compare import MALFORMED
from whet.evaluators.costs import CHEAP, MODERATE, affordable, spread
from whet.evaluators.examiner import VALUE, Step
from whet.evaluators.finding import Fault, RungEndedError
from whet.evaluators.inputs.call_sequences import Calls, SequenceMaker, code, inputs_of, simpler
from whet.evaluators.inputs.shrink import shrink
from whet.evaluators.inputs.source import EDITED, InputSource
from whet.evaluators.inputs.target_text import RequiredOutcome, wanted
from whet.evaluators.languages.registry import takes_objects
from whet.evaluators.native_readers import Reader
from whet.evaluators.native_state import NativeState, trapped
from whet.evaluators.outcomes import decode_call
from whet.evaluators.pairs import Side
from whet.evaluators.patience import Patience
from whet.evaluators.processes import CallResult
from whet.evaluators.sequence_outcomes import SequenceOutcome, came_of, differing

FEWEST, MOST = 2, 24
"""Sequences on objects; the first however slow calls are."""
MOST_OF_A_FUNCTION, MOST_OF_A_NATIVE = 3, 6
"""Of a function, whose single calls are compared one after the other in one process anyway; in C, what it keeps is seen
here alone."""
SECONDS = 1.2
"""CPU seconds of the baseline, by its class, for all of them."""
CALLS = 6
"""Of a sequence, on average."""
INPUTS = 24
"""Inputs whose arguments are taken, from all over those that the target has met."""
LARGEST = 1 << 13
"""Bytes of one of them."""
SHRINKING = 40
"""Sequences that are tried to find a simpler one that shows the same; each takes two processes."""
MOST_UNCONFIRMED = 3
"""Differences that fresh processes do not show again; after so many nothing more is looked for."""
SMALLEST = "smallest_sequence"
"""Names the sequences that show a difference in a fault's evidence: base64 of the payload of each."""


@dataclass(frozen=True, slots=True)
class Expected:
    """A sequence and what the baseline makes of it in the process that met those before it."""

    calls: Calls
    came: SequenceOutcome


def compares_sequences(task: Task) -> bool:
    """Whether sequences of a target in Python are compared: of functions and methods."""
    return takes_objects(task)


class Rehearsal:
    """Draws sequences, and has the baseline meet them.

    Args:
        baseline: the original.
        source: knows the target's text, and what is valid.
        met: inputs of the target, whose arguments are taken.
        seed: of the sequences.
        hash_seed: of the processes.
        seconds: that a sequence may take.

    Attributes:
        differing: returns where a candidate's sequence differs from the original's.
    """

    def __init__(
        self, baseline: Artifact, source: InputSource, met: Sequence[Step], seed: int, hash_seed: int, seconds: float
    ) -> None:
        self.baseline = baseline
        self.source = source
        self.hash_seed = hash_seed
        self.seconds = seconds
        self._native = NativeState.of(source.task, baseline)
        self.differing: Callable[[SequenceOutcome, SequenceOutcome], Fault | None] = partial(
            differing, rule=source.task.oracle
        )
        if self._native is not None:
            self.differing = self._native.differing
        asked = met if self._native is not None or compares_sequences(source.task) else ()
        self._natural = frozenset(
            decode_call(step.expected).error for step in asked if not step.expected.startswith(VALUE)
        )
        self.expected = self._met(list(self._drawn(asked, seed))) if asked else []

    def _drawn(self, met: Sequence[Step], seed: int) -> Iterator[Calls]:
        # What an edit of ours made one object, callers of the original may not rely on.
        plain = [step for step in met if step.item.source != EDITED]
        small = [step for step in plain if step.cost <= MODERATE and len(step.item.payload) <= LARGEST]
        chosen = spread([step for step in small if step.cost <= CHEAP] or small, INPUTS)
        if not chosen:
            return
        task = self.source.task
        most = MOST if "." in (task.symbol or "") else MOST_OF_A_FUNCTION
        readers: tuple[Reader, ...] = ()
        if self._native is not None:
            most, readers = MOST_OF_A_NATIVE, self._native.readers
        count = affordable(chosen[0].cost * CALLS, SECONDS, FEWEST, most)
        payloads = [step.item.payload for step in chosen]
        maker = SequenceMaker(task, payloads, self.source.text.literals, seed)
        yield from (replace(calls, readers=readers) for calls in maker.sequences(count))

    def _met(self, drawn: list[Calls]) -> list[Expected]:
        """Returns sequences that end before the first call that asks nothing of a candidate."""
        found = self.answers(self.baseline, drawn, self.hash_seed)
        readers = drawn[0].readers if drawn else ()
        if len(found) < len(drawn) and readers:  # one of them may ask for more than is there
            fewer = tuple(one for one in readers if not one.arguments)
            return self._met([replace(calls, readers=fewer if fewer != readers else ()) for calls in drawn])
        cut = [calls.cut(self.asked(calls, came)) for calls, came in zip(drawn, found, strict=False)]
        cut = [calls for calls in cut if calls.calls]
        if cut != drawn:
            found = self.answers(self.baseline, cut, self.hash_seed)
        expected = [Expected(calls, came) for calls, came in zip(cut, found, strict=False)]
        # Of a function beside which nothing is kept, single calls have shown all.
        return expected if self._native is not None or any(map(_keeps_state, expected)) else []

    def answers(
        self, artifact: Artifact, sequences: Sequence[Calls], hash_seed: int, fork: bool = True
    ) -> list[SequenceOutcome]:
        """Returns what comes of sequences in one process of their own, up to the first on which that ends."""
        found = []
        side = Side(artifact, hash_seed, 0 if fork else None)
        payloads = [calls.payload for calls in sequences]
        with closing(side), closing(side.calls(payloads, self.seconds, "sequence")) as answers:
            for answer in answers:
                if isinstance(answer, Fault):
                    break
                found.append(came_of(answer[0]))
        return found

    def witnesses(self) -> Iterator[Artifact]:
        """Yields the baseline, and of a native one a build in which what it reads beside its variables shows."""
        yield self.baseline
        if self._native is not None and (other := trapped(self.baseline)) is not None:
            yield other

    def code(self, sequences: Sequence[Calls]) -> str:
        """Returns sequences as code for people."""
        if self._native is not None:
            return self._native.code(sequences)
        return code(self.source.task.symbol or "", sequences)

    def asked(self, calls: Calls, came: SequenceOutcome) -> int:
        """Returns how many calls of a sequence ask something of a candidate, from the first on."""
        made = len(came.steps) - len(calls.calls)
        for number, step in enumerate(came.steps):
            outcome = decode_call(step.outcome)
            if wanted(outcome, self.source.text, self._natural, textual=False) is not RequiredOutcome.SAME:
                return max(0, number - made)
        return len(calls.calls)


@dataclass(slots=True)
class SequenceCheck:
    """Compares one candidate on the sequences of a rehearsal.

    Attributes:
        rehearsal: what the baseline makes of them.
        candidate: is compared.
        patience: with it.
        explain: whether the simplest sequence is looked for.
    """

    rehearsal: Rehearsal
    candidate: Artifact
    patience: Patience
    explain: bool

    def expect_alike(self) -> None:
        """Meets the sequences.

        Raises:
            RungEndedError: they differ from the baseline's, and in fresh processes too.
        """
        rehearsal = self.rehearsal
        payloads = [one.calls.payload for one in rehearsal.expected]
        unconfirmed = 0
        theirs = Side(self.candidate, rehearsal.hash_seed)
        with closing(theirs), closing(theirs.calls(payloads, rehearsal.seconds, "sequence")) as answers:
            awaited = self.patience.over(answers)
            for number, (one, answer) in enumerate(zip(rehearsal.expected, awaited, strict=False)):
                if self._differs(one.came, answer) is None:
                    continue
                if fault := self._confirmed([one.calls for one in rehearsal.expected[: number + 1]]):
                    raise RungEndedError(fault)
                unconfirmed += 1
                if isinstance(answer, Fault) or unconfirmed >= MOST_UNCONFIRMED:
                    break

    def _differs(self, expected: SequenceOutcome, answer: CallResult) -> Fault | None:
        if isinstance(answer, Fault):
            return answer
        try:
            return self.rehearsal.differing(expected, came_of(answer[0]))
        except MALFORMED:
            return Fault(Reason.SANDBOX_VIOLATION, "the outcome is not in the form that the harness writes")

    def _confirmed(self, sequences: list[Calls]) -> Fault | None:
        """Returns the difference that the last of some sequences shows, alone or behind the others."""
        for some in (sequences[-1:], sequences):
            if (fault := self._alone(some)) and self._sure(some):
                return self._simplest(some, fault)
        return None

    def _alone(self, sequences: Sequence[Calls]) -> Fault | None:
        """Returns how the candidate differs on sequences in a process of their own."""
        rehearsal = self.rehearsal
        ours = rehearsal.answers(rehearsal.baseline, sequences, rehearsal.hash_seed)
        if len(ours) < len(sequences):
            return None
        if any(rehearsal.asked(calls, came) < len(calls.calls) for calls, came in zip(sequences, ours, strict=True)):
            return None
        theirs = Side(self.candidate, rehearsal.hash_seed)
        payloads = [calls.payload for calls in sequences]
        with closing(theirs), closing(theirs.calls(payloads, rehearsal.seconds, "sequence")) as answers:
            differences = (self._differs(came, answer) for came, answer in zip(ours, answers, strict=True))
            return next(filter(None, differences), None)

    def _sure(self, sequences: Sequence[Calls]) -> bool:
        """Whether the baseline does the same in other processes that are no forks, under another hash seed."""
        rehearsal = self.rehearsal
        first = rehearsal.answers(rehearsal.baseline, sequences, rehearsal.hash_seed)
        for artifact in rehearsal.witnesses():
            again = rehearsal.answers(artifact, sequences, 1, fork=False)
            if len(first) != len(again) or any(map(rehearsal.differing, first, again)):
                return False
        return True

    def _simplest(self, sequences: Sequence[Calls], fault: Fault) -> Fault:
        faults = {tuple(calls.payload for calls in sequences): fault}
        source = self.rehearsal.source
        symbol = source.task.symbol or ""

        def still(some: tuple[Calls, ...]) -> bool:
            if not all(source.valid([payload for calls in some for payload in inputs_of(calls, symbol)])):
                return False
            found = self._alone(some)
            if found is None or found.reason is not fault.reason:
                return False
            faults[tuple(calls.payload for calls in some)] = found
            return True

        smallest = tuple(sequences)
        if self.explain:
            shorter = ((*smallest[:-1], smallest[-1].cut(count)) for count in range(1, len(smallest[-1].calls)))
            smallest = next(filter(still, shorter), smallest)
            smallest = shrink(smallest, _simpler, still, SHRINKING)
        payloads = tuple(calls.payload for calls in smallest)
        found = faults[payloads]
        shown = self.rehearsal.code(smallest)
        evidence = {SMALLEST: [b64encode(payload).decode("ascii") for payload in payloads]}
        return replace(found, detail=f"{found.detail}\nafter these calls:\n{shown}", evidence=evidence)


def _keeps_state(one: Expected) -> bool:
    """Whether there is an object, or anything else that outlives a call."""
    return one.calls.init is not None or bool(one.came.names) or any(step.outside for step in one.came.steps)


def _simpler(sequences: tuple[Calls, ...]) -> Iterator[tuple[Calls, ...]]:
    """Yields fewer sequences, then simpler ones."""
    for i in range(len(sequences) - 1):
        yield sequences[:i] + sequences[i + 1 :]
    for i, calls in enumerate(sequences):
        for less in simpler(calls):
            yield (*sequences[:i], less, *sequences[i + 1 :])
