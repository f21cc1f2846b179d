"""Inputs that break needs, with what the baseline makes of them: done once for all candidates of an examination."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass

from whet.core.verdict import Reason
from whet.evaluators.costs import MODERATE, SLOWEST, affordable
from whet.evaluators.examiner import VALUE, Step
from whet.evaluators.finding import Fault
from whet.evaluators.inputs.plain_data import read, write
from whet.evaluators.inputs.source import InputSource
from whet.evaluators.live import Answer
from whet.evaluators.needs.trials import RuledOut, Trial, Trials
from whet.evaluators.needs.vocabulary import VOCABULARY
from whet.evaluators.oracle import Oracle
from whet.evaluators.pairs import Side
from whet.sandbox.inside.codec import CodecError
from whet.sandbox.protocol import CpuLimit

PER_PLACE = 18
"""Edited inputs that one need meets at one place, where none shows a difference."""
SECONDS = 1.2
"""CPU seconds of the baseline, by its class, for all of them."""
FEWEST, MOST = 40, 320
"""Of all of them; with fewer than the first, most needs would not be attacked at all."""
BASELINE_SECONDS = 0.2
"""CPU seconds that the baseline may take for one. What lets it run longer is no input that it takes."""
WAIT = 0.5
"""Seconds by the clock after which an input is met again, with CPU time counted: counting it takes some ms a call."""
MOST_LOST = 4
"""Processes of the baseline that they may end."""


@dataclass(frozen=True, slots=True)
class Taken:
    """An input that breaks a need, and that the original takes.

    Attributes:
        trial: the input.
        expected: the baseline's outcome on it.
    """

    trial: Trial
    expected: bytes


class BrokenInputs:
    """What a candidate meets whose needs are attacked.

    Attributes:
        turns: inputs of which each need has at most one at a place; later turns are for what earlier ones leave open.
        ruled_out: needs that callers of the target keep.
    """

    def __init__(self, source: InputSource, oracle: Oracle, met: Sequence[Step], ours: Side) -> None:
        """Makes them, and has the baseline meet them.

        Args:
            source: knows what is valid.
            oracle: compares outcomes.
            met: inputs that a candidate has met by then, in order; some of them are edited.
            ours: the baseline's process.
        """
        self._source = source
        self._oracle = oracle
        self._ours = ours
        self._made = Trials(source.task)
        self._barred: set[tuple[str, str]] = set()
        self._lost = 0
        steps = [step for step in met if step.cost <= MODERATE and step.expected.startswith(VALUE)]
        self.turns = [self._taken(trials) for trials in self._batches(list(self._made.of(steps, VOCABULARY)))]
        self.ruled_out: Sequence[RuledOut] = self._made.ruled_out

    def _batches(self, trials: Sequence[Trial]) -> Iterator[list[Trial]]:
        """Yields inputs together of which each need has at most one at a place."""
        waiting: dict[tuple[str, str], list[Trial]] = {}
        for trial in trials:
            waiting.setdefault(trial.key, []).append(trial)
        most = affordable(max((trial.base.cost for trial in trials), default=SLOWEST), SECONDS, FEWEST, MOST)
        made = 0
        for turn in range(PER_PLACE):
            batch = [them[turn] for key, them in waiting.items() if turn < len(them) and key not in self._barred]
            batch = batch[: most - made]
            made += len(batch)
            if not batch or self._lost >= MOST_LOST:
                return
            yield batch

    def _taken(self, trials: Sequence[Trial]) -> list[Taken]:
        """Has the baseline meet some inputs; returns those that it takes."""
        valid = self._source.valid([trial.item.payload for trial in trials])
        kept = []
        for trial, held in zip(trials, valid, strict=True):
            if held:
                kept.append(trial)
            else:
                self._made.rule_out(trial.need, trial.spot, "valid")
        taken = []
        payloads = [trial.item.payload for trial in kept]
        with closing(answers_of(self._ours, payloads, BASELINE_SECONDS)) as answers:
            for trial, answer in zip(kept, answers, strict=True):
                if isinstance(answer, Fault):
                    self._lost += 1
                    self._barred.add(trial.key)
                elif self._takes(trial, answer[0]):
                    taken.append(Taken(trial, answer[0]))
                if self._lost >= MOST_LOST:
                    break
        return taken

    def _takes(self, trial: Trial, outcome: bytes) -> bool:
        """Whether the original takes an input: it returns, and what it should where that is known."""
        if not outcome.startswith(VALUE):
            return False
        if not trial.need.supported:
            return True
        try:
            before, now = _without_arguments(trial.base.expected), _without_arguments(outcome)
        except CodecError:  # arrays that share memory
            return False
        return self._oracle.compare(trial.item, before, now) is None


def answers_of(side: Side, payloads: Sequence[bytes], seconds: float) -> Generator[Answer]:
    """Yields an answer for each input, which may take so much CPU time, however busy the machine is."""
    with closing(side.calls(payloads, WAIT)) as answers:
        for payload, answer in zip(payloads, answers, strict=True):
            if isinstance(answer, Fault) and answer.reason is Reason.TIMEOUT:
                with closing(side.another()) as other:
                    yield other.call(payload, CpuLimit(seconds))
            else:
                yield answer


def _without_arguments(outcome: bytes) -> bytes:
    """Returns an outcome without what the arguments are after the call."""
    kind, _, instance, value, stdout = read(outcome)
    return write((kind, None, instance, value, stdout))
