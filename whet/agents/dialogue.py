"""The pause before each round of a run that a person takes part in: a langgraph interrupt.

The step that waits for a person asks for nothing by itself: it interrupts the graph until all that the person has to
say is recorded. So a run that was killed while somebody was typing comes to the same pause, with what was said before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from whet.agents.diagnosis import Diagnosis
from whet.agents.evaluations import Evaluations
from whet.agents.facts import Facts
from whet.agents.history import History
from whet.agents.person import CLOSING, LONGEST_HINT, InputKind, Said, Word, Words, pin_of
from whet.core.candidate import Candidate
from whet.core.errors import BudgetError, UsageError
from whet.core.task import Task

STOPPED = "person"
"""How a loop ends that a person stopped."""


@dataclass(frozen=True, slots=True)
class RoundPreview:
    """What a person is shown before a round.

    Attributes:
        number: of the round, from 1.
        rounds: the most there will be.
        task: what is made faster.
        candidates: those of the run so far, in order, the original first.
        best: id of what is built upon; the original's where nothing faster is allowed.
        last: records of the last round's candidates, see `Evaluations.record`.
        complaints: why other answers of the last round could not be used.
        diagnosis: what the Judge made of the last round; None where it was not asked.
        words: what the person said already before this round.
        said: all that counts of what the person said.
        room: how many edited candidates this round still takes.
    """

    number: int
    rounds: int
    task: Task
    candidates: Mapping[str, Candidate]
    best: str
    last: Sequence[Mapping[str, Any]]
    complaints: Sequence[str]
    diagnosis: Diagnosis | None
    words: Sequence[Word]
    said: Said
    room: int

    def refused(self, word: Word) -> str:
        """Returns why a word cannot be taken; empty where it can."""
        original = next(iter(self.candidates))
        match word.kind:
            case InputKind.HINT if not word.text.strip():
                return "a hint has a text"
            case InputKind.HINT if len(word.text) > LONGEST_HINT:
                return f"a hint has at most {LONGEST_HINT} characters"
            case InputKind.REJECT | InputKind.EDIT if word.candidate not in self.candidates:
                return "the run has no such candidate"
            case InputKind.REJECT if word.candidate == original:
                return "the original stays: stop ends the run"
            case InputKind.EDIT if word.text == self.candidates[word.candidate].source:
                return "the text is what it was"
            case InputKind.EDIT if self.room < 1:
                return "this round takes no further candidate"
            case InputKind.PIN if self.task.translated:
                return "a translation keeps no line of the original"
            case InputKind.PIN:
                try:
                    pin_of(self.task.source, word.first, word.last)
                except ValueError as error:
                    return str(error)
        return ""


class Person(Protocol):
    """Somebody who takes part in a run."""

    def say(self, turn: RoundPreview) -> Word:
        """Returns the next word before a round; asked again until it is ``go`` or ``stop``.

        Raises:
            KeyboardInterrupt: the person leaves; the run can be resumed.
        """


@dataclass(frozen=True, slots=True)
class Recorded:
    """A person who says once more what a past run recorded.

    Attributes:
        words: of that run.
        run: its id.
    """

    words: Words
    run: str

    def say(self, turn: RoundPreview) -> Word:
        """Returns the recorded word.

        Raises:
            UsageError: the record has a hole.
        """
        known = self.words.before(turn.number)
        if len(turn.words) >= len(known):
            raise UsageError(f"run {self.run} holds no further word before round {turn.number}; it cannot be replayed")
        return known[len(turn.words)]


@dataclass(frozen=True, slots=True)
class Dialogue:
    """A run's talk with a person."""

    person: Person
    words: Words
    facts: Facts
    history: History
    evaluations: Evaluations

    def listen(self, number: int) -> None:
        """Records what the person says before a round, until all is said.

        Raises:
            UsageError: a word cannot be taken.
        """
        candidates = {
            id: self.evaluations.candidate(id) for id in (self.evaluations.baseline.id, *self.history.seen(number - 1))
        }
        while not self.words.over(number):
            turn = self._turn(number, candidates)
            word = self.person.say(turn)
            if line := turn.refused(word):
                raise UsageError(f"the person's word '{word.kind}' cannot be taken: {line}")
            self.words.add(number, word)

    def heard(self, number: int) -> dict[str, Any]:
        """Returns what the words before a round change in the loop's state; pauses the graph until they are said."""
        if not self.words.over(number):
            from langgraph.types import interrupt  # takes longer than all other imports of this module

            interrupt(number)
        said = self.words.before(number)
        update: dict[str, Any] = {}
        if any(word.kind not in CLOSING for word in said):
            # What a person adds deserves a try of its own.
            update |= {"stale": 0, "against": 0}
        if said[-1].kind is InputKind.STOP:
            update |= {"ended": STOPPED, "message": f"a person stopped it before round {number}"}
        return update

    def _turn(self, number: int, candidates: Mapping[str, Candidate]) -> RoundPreview:
        last = self.history.round(number - 1) if number > 1 else None
        improved = self.facts.standing(number - 1, number).improved
        return RoundPreview(
            number=number,
            rounds=self.facts.plan.rounds,
            task=self.evaluations.task,
            candidates=candidates,
            best=improved[0].id if improved else self.evaluations.baseline.id,
            last=[self.evaluations.record(id) for id in last.batch] if last else [],
            complaints=last.complaints if last else (),
            diagnosis=self.history.diagnosis(number - 1),
            words=self.words.before(number),
            said=self.words.until(number),
            room=self._room(number) - len(self.words.edited(number)),
        )

    def _room(self, number: int) -> int:
        try:
            return self.facts.room(number)
        except BudgetError:
            return 0
