"""What workers do for `whet.evaluators.remote.remote.Remote`: the steps of a ladder; see `Function` of the seam."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from whet.core.candidate import Candidate
from whet.core.plain import from_plain, to_plain
from whet.core.store import Store
from whet.core.verdict import Verdict
from whet.evaluators.ladder import Ladder
from whet.evaluators.remote.open_ladders import Ladders
from whet.evaluators.remote.opening import Opening, stored
from whet.sandbox.workers.base import WorkerContext


def opened(bench: WorkerContext, argument: Mapping[str, Any]) -> dict[str, Any]:
    """Makes a task ready: places it on its device and finds sizes where it names none."""
    opening, ladders = from_plain(Opening, argument["opening"]), Ladders.of(bench)
    with ladders.lent(bench, opening) as lent:
        task = stored(bench.store, lent.ladder.task)
    ladders.rename(opening, replace(opening, task=task))
    return {"task": task, "told": lent.heard}


def validate(bench: WorkerContext, argument: Mapping[str, Any]) -> dict[str, Any]:
    """Validates the baseline, and tells what verdicts rest on."""
    with Ladders.of(bench).lent(bench, from_plain(Opening, argument["opening"])) as lent:
        before = len(lent.heard)
        lent.validate()
        return {
            "provenance": to_plain(lent.ladder.provenance(bench.store.put)),
            "circumstances": to_plain(lent.ladder.circumstances()),
            "told": lent.heard[before:],
        }


def check(bench: WorkerContext, argument: Mapping[str, Any]) -> Any:
    """Climbs the rungs before measuring, with the inputs of the candidate's batch."""
    with Ladders.of(bench).lent(bench, from_plain(Opening, argument["opening"])) as lent:
        lent.validate()
        batch = [Candidate(bench.store.get(id)) for id in argument["batch"]]
        lent.join(argument["candidate"], batch)
        return to_plain(lent.ladder.check(_candidate(bench, argument)))


def helpers(bench: WorkerContext, argument: Mapping[str, Any]) -> Any:
    """Finds the lowest wrong function of a wrong candidate."""
    with _ladder(bench, argument) as ladder:
        return to_plain(ladder.helpers(_candidate(bench, argument), _verdict(bench, argument)))


def profile(bench: WorkerContext, argument: Mapping[str, Any]) -> Any:
    """Finds the hot lines of a candidate."""
    with _ladder(bench, argument) as ladder:
        return to_plain(ladder.profile(_candidate(bench, argument)))


def measure(bench: WorkerContext, argument: Mapping[str, Any]) -> Any:
    """Measures a candidate beside the baseline, both in this piece of work; notes where it was begun."""
    with _ladder(bench, argument) as ladder:
        candidate, verdict = _candidate(bench, argument), _verdict(bench, argument)
        if argument["alone"]:
            found = ladder.measure_alone(candidate, verdict)
        else:
            found = ladder.measure(candidate, verdict, looks=argument["looks"])
        plain = to_plain(found)
    if found.measurement is not None and found.measurement.undecided:
        bench.store.keep_result(_place(text_of(plain)), bench.host)
    return plain


def confirm(bench: WorkerContext, argument: Mapping[str, Any]) -> Any:
    """Confirms a candidate that was measured."""
    with _ladder(bench, argument) as ladder:
        return to_plain(ladder.confirm(_candidate(bench, argument), _verdict(bench, argument)))


def text_of(verdict: Any) -> str:
    """Returns the text by whose hash a verdict is handed over."""
    return json.dumps(verdict, sort_keys=True)


def begun_on(store: Store, verdict: str) -> str:
    """Returns the host on which the measurement was begun that a verdict, given as its text, leaves undecided."""
    return store.result(_place(verdict)) or ""


def _place(verdict: str) -> str:
    return hashlib.sha256(b"begun on\0" + verdict.encode()).hexdigest()


@contextmanager
def _ladder(bench: WorkerContext, argument: Mapping[str, Any]) -> Iterator[Ladder]:
    with Ladders.of(bench).lent(bench, from_plain(Opening, argument["opening"])) as lent:
        lent.validate()
        yield lent.ladder


def _candidate(bench: WorkerContext, argument: Mapping[str, Any]) -> Candidate:
    return Candidate(bench.store.get(argument["candidate"]))


def _verdict(bench: WorkerContext, argument: Mapping[str, Any]) -> Verdict:
    return from_plain(Verdict, json.loads(bench.store.get(argument["verdict"])))
