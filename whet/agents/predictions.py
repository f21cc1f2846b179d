"""What the Judge foresaw, held against what was then measured.

A prediction is about the first round that brings something new under its directive: the best right candidate of
that round, over what it was made from. It is settled from stored verdicts, is a fact itself, and is told to the
Judge from the next question on.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from whet.agents.evaluations import Evaluations
from whet.agents.gains import Gain, gain_over
from whet.agents.history import History
from whet.agents.person import ORIGIN
from whet.core.plain import from_plain, to_plain
from whet.core.store import Store
from whet.core.verdict import Verdict

PREDICTION = "prediction:"
LATEST = 3
"""Predictions that the Judge is told one by one; the others are in the summary."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """One prediction and what came of it.

    Attributes:
        after: number of the round that the Judge had seen.
        tried: number of the round that followed its directive.
        expected: speedup over the version built upon.
        confidence: the chance that it gave to a gain beyond the resolution.
        candidate: id of the best right candidate of that round; empty where none was right.
        gain: that candidate's over what it was made from; None where none was right.
        improved: whether that candidate was shown better than the original; else its gain is none.
    """

    after: int
    tried: int
    expected: float
    confidence: float
    candidate: str = ""
    gain: Gain | None = None
    improved: bool = False

    @property
    def came(self) -> bool:
        """Whether there was a gain beyond the resolution."""
        return self.improved and self.gain is not None and self.gain.shown

    @property
    def penalty(self) -> float:
        """The Brier score of its confidence: 0 is perfect, 1 is sure and wrong."""
        return (self.confidence - self.came) ** 2

    @property
    def missed(self) -> float | None:
        """The natural logarithm of measured / expected; None where nothing was measured."""
        return None if self.gain is None else math.log(self.gain.ratio / self.expected)


@dataclass(frozen=True, slots=True)
class Record:
    """The predictions of a run so far, in their order."""

    predictions: tuple[Prediction, ...] = ()

    @property
    def latest(self) -> Sequence[Prediction]:
        """The last few."""
        return self.predictions[-LATEST:]

    @property
    def came(self) -> int:
        """How many came to a gain beyond the resolution."""
        return sum(one.came for one in self.predictions)

    @property
    def confidence(self) -> float:
        """Their mean confidence."""
        return _mean([one.confidence for one in self.predictions])

    @property
    def brier(self) -> float:
        """Their mean Brier score; who always says 0.5 gets 0.25."""
        return _mean([one.penalty for one in self.predictions])

    @property
    def factor(self) -> float | None:
        """By which factor the expected gains were off, at the geometric mean; None where nothing was measured."""
        missed = [by for one in self.predictions if (by := one.missed) is not None]
        return math.exp(_mean([abs(one) for one in missed])) if missed else None

    def chance(self, stated: float) -> float:
        """Returns a stated confidence, calibrated: it counts as one more outcome beside those on record."""
        return (self.came + stated) / (len(self.predictions) + 1)

    def gain(self, stated: float) -> float:
        """Returns an expected gain, calibrated by those that came: this one counts as one more, met exactly."""
        missed = [by for one in self.predictions if one.came and (by := one.missed) is not None]
        return stated * math.exp(math.fsum(missed) / (len(missed) + 1))


class Predictions:
    """The predictions of one run.

    Args:
        store: where they live.
        run: the run's id.
        history: its rounds and diagnoses.
        evaluations: of its candidates.
    """

    def __init__(self, store: Store, run: str, history: History, evaluations: Evaluations) -> None:
        self._store = store
        self._run = run
        self._history = history
        self._evaluations = evaluations
        known = (from_plain(Prediction, fact) for fact in store.facts(run, PREDICTION).values())
        self._known = {one.tried: one for one in known}

    def until(self, number: int) -> Record:
        """Returns those that were settled by the rounds up to a number."""
        return Record(tuple(self._known[tried] for tried in sorted(self._known) if tried <= number))

    def settle(self, number: int) -> Prediction | None:
        """Holds the prediction that a judged round followed against what was measured; None where there is none."""
        if number not in self._known and (found := self._settled(number)) is not None:
            self._store.set_fact(self._run, f"{PREDICTION}{number}", to_plain(found))
            self._known[number] = found
        return self._known.get(number)

    def _settled(self, number: int) -> Prediction | None:
        after = self._history.last_judged(number - 1)
        # Once another round has brought something, and the Judge was not asked about it, the directive is not told.
        followed = not any(self._history.round(between).batch for between in range(after + 1, number))
        said = self._history.diagnosis(after) if after and followed else None
        # A stop and a rule foresee nothing.
        if said is None or said.stop or said.by_rule or self._evaluations.task.untimed:
            return None
        batch = [self._evaluations.candidate(id) for id in self._history.round(number).batch]
        known = [self._evaluations.verdict(one.id) for one in batch if one.origin != ORIGIN]
        verdicts = [verdict for verdict in known if verdict is not None and _is_over(verdict)]
        if not verdicts or len(verdicts) < len(known):
            return None
        found = Prediction(after, number, said.expected_gain, said.confidence)
        best = max((one for one in verdicts if one.correct), key=_standing, default=None)
        if best is None:
            return found
        return replace(found, candidate=best.candidate, gain=self._gain(best), improved=best.improved)

    def _gain(self, child: Verdict) -> Gain:
        assert child.measurement is not None, "it was timed"
        parent = self._evaluations.candidate(child.candidate).parent or self._evaluations.baseline.id
        verdict = self._evaluations.verdict(parent)
        return gain_over(verdict.measurement if verdict is not None else None, child.measurement)


def _is_over(verdict: Verdict) -> bool:
    """Whether nothing more will be found: a cap may have kept a right candidate from being timed."""
    return not verdict.correct or verdict.measurement is not None


def _standing(verdict: Verdict) -> tuple[bool, float]:
    assert verdict.measurement is not None, "it was timed"
    return verdict.improved, verdict.measurement.speedup.low


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else 0.0
