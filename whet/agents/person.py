"""What a person may say to a run, and what follows from it: facts of the run, recorded before they take effect.

A word chooses among candidates or tells the agents something. None of them changes a verdict.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from whet.agents.strategies.base import SearchState
from whet.core.candidate import Candidate
from whet.core.plain import from_plain, to_plain
from whet.core.store import Store
from whet.core.text import one_line

WORD = "word:"
ORIGIN = "person"
"""Who made a candidate that a person edited."""
LONGEST_HINT = 2000
"""Characters: a prompt shows a hint whole."""
MOST_HINTS = 10
"""Newest ones that a prompt shows."""


class InputKind(StrEnum):
    """What a word does. ``go``: the round begins. ``stop``: none follows, and the best is confirmed."""

    GO = "go"
    HINT = "hint"
    REJECT = "reject"
    EDIT = "edit"
    PIN = "pin"
    STOP = "stop"


CLOSING = (InputKind.GO, InputKind.STOP)
"""With one of them a person has said all before a round."""


@dataclass(frozen=True, slots=True)
class Word:
    """One thing that a person said before a round.

    Attributes:
        kind: what it does.
        text: the hint, the new text of an edited candidate, or the pinned lines.
        candidate: id of the one that is rejected, or that was edited.
        first: number of the first pinned line of the original, from 1.
        last: number of the last one.
    """

    kind: InputKind
    text: str = ""
    candidate: str = ""
    first: int = 0
    last: int = 0


@dataclass(frozen=True, slots=True)
class Pin:
    """Lines of the original that must stay.

    Attributes:
        first: number of the first one, from 1.
        last: number of the last one.
        text: the lines, without the end of the last one.
        times: how often they stand in the original.
    """

    first: int
    last: int
    text: str
    times: int

    @property
    def where(self) -> str:
        """Which lines they are, in words."""
        return f"line {self.first}" if self.first == self.last else f"lines {self.first} to {self.last}"

    def missed(self, source: str) -> str:
        """Returns why a rewrite does not keep the lines; empty where it does.

        They are kept where they stand in it one after the other, to the letter, as often as in the original.
        """
        if _times(self.text, source) >= self.times:
            return ""
        there = set(source.split("\n"))
        gone = next((line for line in self.text.split("\n") if line not in there), None)
        which = "they stand apart, or less often" if gone is None else f"missing is: {one_line(gone, 120)}"
        return f"a person pinned {self.where} of the original, and they are not as they were; {which}"


def pin_of(source: str, first: int, last: int) -> Pin:
    """Returns the pin of lines of the original.

    Raises:
        ValueError: the original has no such lines.
    """
    lines = source.removesuffix("\n").split("\n")
    if not 1 <= first <= last <= len(lines):
        raise ValueError(f"the original has lines 1 to {len(lines)}")
    text = "\n".join(lines[first - 1 : last])
    return Pin(first, last, text, _times(text, source))


def _times(block: str, source: str) -> int:
    wanted, lines = block.split("\n"), source.split("\n")
    return sum(lines[at : at + len(wanted)] == wanted for at in range(len(lines) - len(wanted) + 1))


@dataclass(frozen=True, slots=True)
class Said:
    """What a person said up to some round, as far as it still counts.

    Attributes:
        hints: for the agents, in their order.
        pins: lines of the original that must stay.
        rejected: ids of candidates that are neither built upon nor chosen.
    """

    hints: tuple[str, ...] = ()
    pins: tuple[Pin, ...] = ()
    rejected: frozenset[str] = frozenset()

    def missed(self, source: str) -> str:
        """Returns why a rewrite does not keep the pinned lines; empty where it does."""
        return next(filter(None, (pin.missed(source) for pin in self.pins)), "")

    def allowed(self, state: SearchState) -> SearchState:
        """Returns a state without what the person does not want; the verdicts on it stay what they are."""
        if not self.rejected and not self.pins:
            return state
        unwanted = {one.id for one in state.tried if one.id in self.rejected or self.missed(one.source)}
        return replace(
            state,
            improved=tuple(one for one in state.improved if one.id not in unwanted),
            tried=tuple(one for one in state.tried if one.id not in unwanted),
        )


SILENCE = Said()


def nothing_said(number: int) -> Said:
    """What is known of a person in a run that none takes part in."""
    return SILENCE


class Words:
    """What a person said in one run, by the number of the round before which it was said.

    Args:
        store: where the words live.
        run: the run's id.
        original: the target's text, whose lines are pinned.
    """

    def __init__(self, store: Store, run: str, original: str) -> None:
        self._store = store
        self._run = run
        self._original = original
        self._words: dict[int, list[Word]] = {}
        self._said: dict[int, Said] = {}
        known = store.facts(run, WORD)
        for key in sorted(known, key=_place):
            self._words.setdefault(_place(key)[0], []).append(from_plain(Word, known[key]))

    def add(self, number: int, word: Word) -> None:
        """Records a word; it is on the disk before anything follows from it."""
        said = self._words.setdefault(number, [])
        with self._store.on_disk():
            self._store.set_fact(self._run, f"{WORD}{number}:{len(said)}", to_plain(word))
        said.append(word)
        self._said.clear()

    def before(self, number: int) -> Sequence[Word]:
        """Returns what was said before a round, in its order."""
        return tuple(self._words.get(number, ()))

    def over(self, number: int) -> bool:
        """Returns whether all is said before a round."""
        return any(word.kind in CLOSING for word in self.before(number))

    def until(self, number: int) -> Said:
        """Returns what was said before all rounds up to a number."""
        if number not in self._said:
            said = [word for turn in sorted(self._words) if turn <= number for word in self._words[turn]]
            self._said[number] = Said(
                tuple(word.text for word in said if word.kind is InputKind.HINT)[-MOST_HINTS:],
                tuple(pin_of(self._original, word.first, word.last) for word in said if word.kind is InputKind.PIN),
                frozenset(word.candidate for word in said if word.kind is InputKind.REJECT),
            )
        return self._said[number]

    def edited(self, number: int) -> list[Candidate]:
        """Returns the candidates that a person wrote for a round."""
        edits = (word for word in self.before(number) if word.kind is InputKind.EDIT)
        return [Candidate(word.text, word.candidate, ORIGIN, note="edited by a person") for word in edits]


def _place(key: str) -> tuple[int, int]:
    _, number, place = key.split(":")
    return int(number), int(place)
