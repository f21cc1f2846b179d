"""Inputs that break needs, with what the baseline makes of them: done once for all candidates of an examination."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass

from whet.evaluators.costs import MODERATE, SLOWEST, affordable
from whet.evaluators.examiner import VALUE, Step
from whet.evaluators.finding import Fault
from whet.evaluators.inputs.source import InputSource
from whet.evaluators.needs.answers import BASELINE_SECONDS, answers_of, same_result
from whet.evaluators.needs.asking import asked_of, only_asked
from whet.evaluators.needs.trials import NeedTrial, RuledOut, Trials
from whet.evaluators.needs.vocabulary import VOCABULARY
from whet.evaluators.oracle import Oracle
from whet.evaluators.pairs import Side

PER_PLACE = 18
"""Edited inputs that one need meets at one place, where none shows a difference."""
SECONDS = 1.2
"""CPU seconds of the baseline, by its class, for all of them."""
FEWEST, MOST = 40, 320
"""Of all of them; with fewer than the first, most needs would not be attacked at all."""
MOST_LOST = 4
"""Processes of the baseline that they may end."""


@dataclass(frozen=True, slots=True)
class BreakingInput:
    """An input that breaks a need, and that the original takes.

    Attributes:
        trial: the input.
        expected: the baseline's outcome on it.
    """

    trial: NeedTrial
    expected: bytes


class BrokenInputs:
    """What a candidate meets whose needs are attacked.

    Attributes:
        turns: inputs of which each need has at most one at a place; later turns are for what earlier ones leave open.
        ruled_out: needs that callers of the target keep.
        asked: what the original asks of each place of the inputs; see `whet.evaluators.needs.asking`.
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
        places = self._made.places(steps)
        self.asked = asked_of(ours, places, oracle)
        trials = [*self._made.of(places, VOCABULARY), *self._made.of(places.fewer, [only_asked(self.asked)])]
        self.turns = [self._taken(batch) for batch in self._batches(trials)]
        self.ruled_out: Sequence[RuledOut] = self._made.ruled_out

    def _batches(self, trials: Sequence[NeedTrial]) -> Iterator[list[NeedTrial]]:
        """Yields inputs together of which each need has at most one at a place."""
        waiting: dict[tuple[str, str], list[NeedTrial]] = {}
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

    def _taken(self, trials: Sequence[NeedTrial]) -> list[BreakingInput]:
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
                    taken.append(BreakingInput(trial, answer[0]))
                if self._lost >= MOST_LOST:
                    break
        return taken

    def _takes(self, trial: NeedTrial, outcome: bytes) -> bool:
        """Whether the original takes an input: it returns, and what it should where that is known."""
        if not outcome.startswith(VALUE):
            return False
        return not trial.need.supported or same_result(self._oracle, trial.item, trial.base.expected, outcome)
