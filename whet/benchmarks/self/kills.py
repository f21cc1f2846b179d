"""Kills a scripted run again and again, and counts what is then done twice.

The counting owes nothing to what it judges: the model and the evaluator each keep a journal of what reaches them, and
after each kill the journal of what came later is held against what ledger and store held at that moment.
"""

from __future__ import annotations

import itertools
import multiprocessing
import random
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from whet.agents.calls import Calls
from whet.benchmarks.self.rehearsal import Rehearsal, asked
from whet.core.errors import WhetError
from whet.core.result import Result
from whet.core.store import Store

AT_REPLIES = 0.3
"""The share of kills that are aimed at the recording of a reply."""
AIM = (-0.002, 0.004)
"""Seconds around a reply within which such a kill falls."""
POLL = 0.0005
"""Seconds between two looks at the journal of questions, by which a kill may fall late: a twelfth of the width of
`AIM`. Longer ones blur the aim; shorter ones take more of a processor."""
TIMES = ("run", "seconds", "cost")
"""What may differ between documents: a run's own name and times, and the calls that were under way at a kill."""


@dataclass(frozen=True, slots=True)
class Tally:
    """What the kills of some runs came to.

    Attributes:
        kills: processes that were killed at work.
        asked_again: questions that reached the model although their reply was recorded.
        repeated: evaluations that began although their verdict was recorded.
        unknown: calls that were under way at a kill, as the ledgers have it.
        unaccounted: questions that reached the model and stand in no ledger.
        others: runs that ended in another document than one that nobody disturbed.
        recorded: replies and verdicts that were recorded at the kills, all told: what might have been done twice.
    """

    kills: int = 0
    asked_again: int = 0
    repeated: int = 0
    unknown: int = 0
    unaccounted: int = 0
    others: int = 0
    recorded: int = 0

    def __add__(self, other: Tally) -> Tally:
        pairs = ((getattr(self, name), getattr(other, name)) for name in self.__slots__)
        return Tally(*(ours + theirs for ours, theirs in pairs))


@dataclass(frozen=True, slots=True)
class Moment:
    """What ledger, store and journals of a run held at some moment.

    Attributes:
        replies: the questions whose replies were recorded, as the journal names them.
        verdicts: the evaluations that were.
        questions: lines in the journal of questions.
        evaluations: lines in the other.
    """

    replies: frozenset[str]
    verdicts: frozenset[str]
    questions: int
    evaluations: int

    @classmethod
    def of(cls, script: Rehearsal) -> Moment:
        """Looks."""
        store = Store(script.home)
        try:
            facts = [name.split(":") for record in store.runs() for name in store.facts(record.id)]
        finally:
            store.close()
        verdicts = {f"{fact[2]} {fact[1]}" for fact in facts if fact[0] == "verdict"}
        profiles = {f"profile {fact[1]}" for fact in facts if fact[0] == "profile"}
        return cls(
            frozenset(_name(call) for call in _ledger(script) if call["state"] == "done"),
            frozenset(verdicts | profiles),
            len(_lines(script.questions)),
            len(_lines(script.evaluations)),
        )

    @property
    def recorded(self) -> int:
        """Replies and evaluations that were recorded."""
        return len(self.replies) + len(self.verdicts)

    def done_again(self, script: Rehearsal) -> tuple[int, int]:
        """Returns how many recorded replies were asked for since, and how many recorded evaluations were begun."""
        return (
            sum(line in self.replies for line in _lines(script.questions)[self.questions :]),
            sum(line in self.verdicts for line in _lines(script.evaluations)[self.evaluations :]),
        )


class Killer:
    """Kills runs of one script.

    Args:
        folder: for what the runs leave.
        script: its folder is replaced, run by run; the target stays where it is, so that documents can be compared.
    """

    def __init__(self, folder: Path, script: Rehearsal) -> None:
        self._folder = folder
        self._script = script
        # A server that has imported all and forks from there: a start takes milliseconds, and no thread is forked.
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload([__name__, "whet.agents.loop"])

    def undisturbed(self) -> tuple[dict[str, Any], float]:
        """Returns what a run's document says that nobody disturbs, and how long it takes, in seconds."""
        script = self._in("undisturbed")
        start, end = self._context.Pipe(duplex=False)
        process = self._context.Process(target=_work, args=(script, end))
        process.start()
        start.recv()
        began = time.perf_counter()
        process.join()
        seconds = time.perf_counter() - began
        return _document(script.work()), seconds

    def run(self, number: int, kills: int, expected: dict[str, Any], seconds: float) -> Tally:
        """Kills one run until it ends by itself.

        Args:
            number: of the run; draws its moments.
            kills: about so many.
            expected: what its document must say.
            seconds: that it takes when nobody disturbs it.
        """
        script = self._in(str(number))
        drawn = random.Random(number)
        tally = Tally()
        while True:
            moment = Moment.of(script)
            wait = None if drawn.random() < AT_REPLIES else drawn.uniform(0.0, 2.0 * seconds / kills)
            killed = self._killed(script, wait, drawn)
            asked_again, repeated = moment.done_again(script)
            tally += Tally(killed, asked_again, repeated, recorded=killed * moment.recorded)
            if not killed:
                break
        ledger = _ledger(script)
        known = Counter(_name(call) for call in ledger)
        return tally + Tally(
            unknown=sum(call["state"] == "unknown" for call in ledger),
            unaccounted=(Counter(_lines(script.questions)) - known).total(),
            others=_document(script.work()) != expected,
        )

    def _in(self, name: str) -> Rehearsal:
        return replace(self._script, folder=self._folder / name, target=self._folder / "target.py")

    def _killed(self, script: Rehearsal, wait: float | None, drawn: random.Random) -> bool:
        """Works on a run in a process that is killed; False where it ended before.

        Args:
            script: the run.
            wait: seconds until the kill; None aims at the recording of one of the next replies.
            drawn: draws the moment.
        """
        start, end = self._context.Pipe(duplex=False)
        process = self._context.Process(target=_work, args=(script, end))
        process.start()
        start.recv()
        if wait is None:
            wait = self._until_reply(process, script, drawn)
        process.join(max(0.0, wait))
        process.kill()
        process.join()
        if process.exitcode not in (0, -9):
            raise WhetError(f"a run that was to be killed failed by itself: {script.folder}")
        return process.exitcode != 0

    def _until_reply(self, process: Any, script: Rehearsal, drawn: random.Random) -> float:
        """Waits until the model is asked, and returns the seconds from then to about the recording of its reply."""
        questions = len(_lines(script.questions)) + drawn.randint(1, 2 * script.candidates)
        while process.is_alive() and len(_lines(script.questions)) < questions:
            time.sleep(POLL)
        return script.model_seconds + drawn.uniform(*AIM)


def _work(script: Rehearsal, begun: Connection) -> None:
    begun.send(None)
    script.work()


def kill_runs(folder: Path, script: Rehearsal, kills: int) -> Iterator[Tally]:
    """Yields what each of ever more runs came to that were killed about so often."""
    killer = Killer(folder, script)
    expected, seconds = killer.undisturbed()
    for number in itertools.count():
        yield killer.run(number, kills, expected, seconds)


def _document(result: Result) -> dict[str, Any]:
    return {name: value for name, value in result.to_json().items() if name not in TIMES}


def _lines(journal: Path) -> list[str]:
    return journal.read_text(encoding="utf-8").splitlines() if journal.exists() else []


def _ledger(script: Rehearsal) -> list[dict[str, Any]]:
    store = Store(script.home)
    try:
        return [call for record in store.runs() for call in Calls(store, record.id).transcript(live=False)]
    finally:
        store.close()


def _name(call: Mapping[str, Any]) -> str:
    """Returns a recorded question's name, as the journal has it."""
    return asked(call["role"], call["sample"], [(part["role"], part["text"]) for part in call["prompt"]])
