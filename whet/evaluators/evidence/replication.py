"""Climbs to a recorded verdict again, on this machine and with fresh inputs, and says what agrees."""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from whet.core.candidate import Candidate
from whet.core.condition import CONDITIONS, conditions_in
from whet.core.errors import BaselineError, UsageError
from whet.core.events import Event, EventKind, Listener
from whet.core.evidence import Comparison, Evidence, Provenance, Replication
from whet.core.measurement import Speedup
from whet.core.options import Options
from whet.core.plain import from_plain, to_plain
from whet.core.result import Result, Status
from whet.core.rungs import CHECKS, beyond, place
from whet.core.store import Store
from whet.core.task import MIB, Limits, OracleRule, Task
from whet.core.task import Kind as TaskKind
from whet.core.verdict import Rung, RungStatus, Verdict
from whet.evaluators.evidence.bundle import Bundle, Contradiction, read_bundle
from whet.evaluators.evidence.consistency import TIMED, contradictions
from whet.evaluators.evidence.packaged import with_package
from whet.evaluators.evidence.record import candidate_of, task_of, write_tests
from whet.evaluators.evidence.redrawing import planned as planned_from
from whet.evaluators.evidence.redrawing import redrawn
from whet.evaluators.evidence.signing import Authorship, authorship
from whet.evaluators.finding import Fault, Skipped, found_by
from whet.evaluators.judged import drawn, judged
from whet.evaluators.ladder import Ladder, open_ladder
from whet.evaluators.languages.registry import language
from whet.sandbox.interpreter import find_interpreter

BEFORE_TIMING = CHECKS[-1]
FROM_SEEDS = ("generator", "case")
"""Sources of differential inputs that do not hang on what was met before."""
REDRAWN = 3
"""Turns of each timed rung whose inputs are drawn again."""
MOST = Limits(seconds=3600.0, memory=256 << 30, processes=1024, output=1024 * MIB)
"""What evidence may ask for a run: it is a stranger's."""


def replicate(file: Path, signers: Path | None, given: Options, home: Path | None, listener: Listener) -> Replication:
    """Repeats the verdict of a bundle.

    Args:
        file: the bundle. Its code is hostile, and runs in the sandbox alone.
        signers: a file of allowed signers; None asks for none.
        given: the options of whoever repeats it.
        home: the state directory; None is the default one.
        listener: hears what happens.

    Raises:
        UsageError: the file is no bundle, or an option cannot be used.
        Contradiction: the bundle contradicts itself.
        BaselineError: its baseline cannot be used here.
    """
    start = time.perf_counter()
    bundle = read_bundle(file)
    who = authorship(bundle, signers)
    _expect_modest(bundle.record)
    if found := contradictions(bundle):
        raise Contradiction(f"{file} contradicts itself: {'; '.join(found)}")
    listener(Event(EventKind.STAGE, f"{file.name} agrees with itself; {who.note}"))
    candidate, seed = candidate_of(bundle), drawn(given)
    rows: list[Comparison] = []
    provenance: list[Provenance] = []
    with ExitStack() as stack:
        task = task_of(bundle, _project(bundle, stack))
        beside = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="whet-package-"))).resolve()
        task = with_package(task, bundle, find_interpreter(given.python), beside)
        ladder, settings, lacking = _opened(task, bundle.record, given, seed)
        store = Store(home)
        stack.callback(store.close)

        def then(run: str, verdict: Verdict) -> None:
            listener(Event(EventKind.STAGE, "drawing the recorded inputs again"))
            rows.extend(_inputs(bundle.record, ladder, candidate, verdict, settings))
            provenance.append(from_plain(Provenance, store.fact(run, "provenance")))

        result = judged(store, f"--evidence {file.name}", candidate, ladder, settings, seed, start, listener, then)
    if result.status is Status.BASELINE_INVALID:
        raise BaselineError(f"the baseline of {file.name} cannot be used here: {result.message}", "unusable")
    claims = [*_author(who, signers), *_verdicts(bundle.record, result, settings, lacking), *rows]
    return Replication(
        run=bundle.record.run,
        candidate=candidate.id,
        authorship=who.note,
        compared=tuple(claims),
        surroundings=tuple(_surroundings(bundle.record, provenance[0])),
        result=result,
    )


def _expect_modest(record: Evidence) -> None:
    """Raises UsageError where the evidence asks for what no task has."""
    task = record.task
    found = language(task.language)
    known = found is not None and (bool(found.suffixes) if task.commands is None else found.commanded)
    if not known or (task.kind is TaskKind.FUNCTION) is (task.symbol is None):
        raise UsageError(f"the evidence is about a {task.language} {task.kind}, which this whet cannot run")
    if task.tests == () or not all(
        word.isprintable() for word in (*(task.tests or ()), *record.provenance.toolchain.flags)
    ):
        raise UsageError("the evidence holds a command that no shell would take")
    for name in ("seconds", "memory", "processes", "output"):
        asked = getattr(task.limits, name)
        if not 0 < asked <= getattr(MOST, name):
            raise UsageError(
                f"the evidence asks for limits.{name} = {asked:g}; at most {getattr(MOST, name):g} is given"
            )


def _project(bundle: Bundle, stack: ExitStack) -> Path | None:
    """Returns a folder with the files of the target's own tests; None where they are not all in the bundle."""
    provenance = bundle.record.provenance
    if provenance.test_target is None or provenance.tests_left_out:
        return None
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="whet-evidence-"))).resolve()
    write_tests(bundle, folder)
    return folder


def _opened(task: Task, record: Evidence, given: Options, seed: int) -> tuple[Ladder, Options, str]:
    """Returns the ladder, its options, and why it cannot measure here what the evidence measured, if so."""
    asked, lacking = record.settings, ""
    cores = asked.cores
    if cores > (offered := len(os.sched_getaffinity(0))):
        lacking, cores = f"it was measured on {cores} cores, and this machine offers {offered}", 1
    settings = replace(
        given,
        metric=asked.metric,
        max_memory=asked.max_memory,
        max_time=asked.max_time,
        min_speedup=asked.min_speedup,
        confidence=asked.confidence,
        quick=asked.quick,
        cores=cores,
        until=_sooner(given.until, asked.until),
    )
    until = _sooner(settings.until, BEFORE_TIMING)
    unmeasured = replace(settings, metric="time", max_memory=None, max_time=None, until=until)
    if lacking:
        return open_ladder(task, unmeasured, seed), unmeasured, lacking
    try:
        return open_ladder(task, settings, seed), settings, ""
    except UsageError as error:
        if (*settings.metrics, *settings.beside) == ("time",):
            raise
        return open_ladder(task, unmeasured, seed), unmeasured, str(error)


def _sooner(*rungs: str | None) -> str | None:
    return min((rung for rung in rungs if rung is not None), key=place, default=None)


def _author(who: Authorship, signers: Path | None) -> Iterator[Comparison]:
    if signers is not None:
        yield Comparison("author", who.note, "", bool(who.principals))


def _verdicts(record: Evidence, result: Result, settings: Options, lacking: str) -> Iterator[Comparison]:
    """Yields verdict, rungs and ratio, there and here."""
    here = {rung.name: rung for rung in result.rungs}
    until = settings.until
    cut = until is not None and until != record.settings.until
    fallen = next((rung for rung in record.rungs if rung.status is RungStatus.FAILED), None)
    decided = result.status is Status.REJECTED or (
        record.status is Status.REJECTED and fallen is not None and until is not None
        and not beyond(fallen.name, until)
    )  # fmt: skip
    agrees = record.status is result.status if decided or not cut else None
    why = "" if agrees is not None else lacking or f"--until {until}"
    yield Comparison("verdict", record.status.value, result.status.value, agrees, why)
    for rung in record.rungs:
        if rung.name != "profile":
            yield from _rung(rung, here.get(rung.name), lacking, record.provenance.tests_left_out)
    yield from _ratio(record.speedup, result.speedup, lacking)


def _rung(recorded: Rung, here: Rung | None, lacking: str, left_out: int) -> Iterator[Comparison]:
    if here is None:
        yield Comparison(recorded.name, _ended(recorded), "not reached", None)
    elif RungStatus.SKIPPED not in (recorded.status, here.status):
        agrees = (recorded.status, recorded.reason) == (here.status, here.reason)
        first = here.detail.partition("\n")[0]
        yield Comparison(recorded.name, _ended(recorded), _ended(here), agrees, "" if agrees else first)
    elif recorded.status is not here.status:
        note = lacking if recorded.name in TIMED else ""
        if recorded.name == "test" and left_out:
            note = f"{left_out} files of the tests are not in the bundle"
        yield Comparison(recorded.name, _ended(recorded), _ended(here), None, note or here.detail)


def _ended(rung: Rung) -> str:
    return rung.status.value if rung.reason is None else f"{rung.status.value}: {rung.reason.value}"


def _ratio(recorded: Speedup | None, here: Speedup | None, lacking: str) -> Iterator[Comparison]:
    if recorded is None and here is None:
        return
    if recorded is None or here is None:
        yield Comparison("ratio", _interval(recorded), _interval(here), None, lacking or "not timed on both machines")
        return
    overlap = recorded.low <= here.high and here.low <= recorded.high
    note = "the intervals overlap" if overlap else "the intervals do not overlap"
    yield Comparison("ratio", _interval(recorded), _interval(here), overlap, note)
    names = [", ".join(workload.name for workload in one.workloads) for one in (recorded, here)]
    yield Comparison("workloads", names[0], names[1], names[0] == names[1])


def _interval(speedup: Speedup | None) -> str:
    return "none" if speedup is None else f"{speedup.ratio:.3g}x ({speedup.low:.3g} to {speedup.high:.3g})"


def _inputs(
    record: Evidence, ladder: Ladder, candidate: Candidate, verdict: Verdict, settings: Options
) -> Iterator[Comparison]:
    """Yields whether the recorded inputs come from their seeds, and what the candidate does on them here."""
    climbed = {rung.name for rung in verdict.rungs if rung.status is not RungStatus.SKIPPED}
    for rung in record.rungs:
        if rung.name not in climbed:
            continue
        drawn = rung.evidence if rung.name == "differential" else rung.evidence.get("differential", {})
        if drawn.get("hashes") and {"seed", "hash_seed"} <= drawn.keys():
            yield from _judged_again(rung, drawn, ladder, candidate)
        if rung.evidence.get("measurements") and rung.name in TIMED:
            yield _timed_again(rung, ladder)


def _judged_again(rung: Rung, drawn: Mapping[str, Any], ladder: Ladder, candidate: Candidate) -> Iterator[Comparison]:
    found = found_by(lambda: ladder.comparing.alone(candidate, int(drawn["seed"]), int(drawn["hash_seed"])))
    # What was drawn comes first; how many of it there are, and what was made of it, follows from the cost of calls.
    sources = drawn.get("sources", {})
    count = sum(int(sources.get(name, 0)) for name in FROM_SEEDS)
    planned = planned_from(ladder.source, int(drawn["seed"]))
    same = sum(one in planned for one in drawn["hashes"][:count])
    note = "" if same == count else "the same seed gives other inputs here"
    yield Comparison(
        f"{rung.name} inputs", f"{count} drawn", f"{same} the same", same == count if count else None, note
    )
    if rung.status is RungStatus.FAILED and rung.name == "confirm":
        return  # it fell when it was timed
    said = "wrong" if rung.status is RungStatus.FAILED else "right"
    fault = isinstance(found, Fault)
    detail = found.detail.partition("\n")[0] if isinstance(found, Fault) else ""
    yield Comparison(f"{rung.name} on those", said, "wrong" if fault else "right", fault == (said == "wrong"), detail)
    if CONDITIONS in drawn and not isinstance(found, Fault | Skipped) and CONDITIONS in found.evidence:
        told, here = (_conditions(evidence) for evidence in (drawn, found.evidence))
        yield Comparison(f"{rung.name} conditions", told, here, told == here)


def _conditions(evidence: Mapping[str, Any]) -> str:
    return ", ".join(sorted(f"{one.parameter}: {one.need}" for one in conditions_in(evidence))) or "none"


def _timed_again(rung: Rung, ladder: Ladder) -> Comparison:
    recorded = same = 0
    note = ""
    beside = rung.evidence.get("beside", {}).values()
    for measured in chain(rung.evidence["measurements"], *(one["measurements"] for one in beside)):
        works = [(work["name"], work["count"]) for work in measured["raw"]["workloads"]]
        for turn in measured["raw"]["turns"][:REDRAWN]:
            recorded += len(turn["inputs"])
            try:
                here = redrawn(ladder.source, works, turn["seed"])
            except (UsageError, ValueError) as error:
                note = str(error)
                continue
            same += sum(here[name] == hash for name, hash in turn["inputs"].items())
    agrees = recorded == same
    note = note or ("" if agrees else "the same seeds give other inputs here")
    return Comparison(f"{rung.name} passes", f"{recorded} drawn", f"{same} the same", agrees, note)


def _surroundings(record: Evidence, here: Provenance) -> Iterator[Comparison]:
    """Yields what the claim and its figures rest on, there and here."""
    there, default = record.provenance, to_plain(OracleRule())
    other = {name: rule for name, rule in to_plain(record.task.oracle).items() if rule != default[name]}
    facts = [
        ("oracle", json.dumps(other) if other else "default", "default"),
        ("processor", there.machine.cpu, here.machine.cpu),
        ("cores", there.machine.cores, here.machine.cores),
        ("system", there.machine.system, here.machine.system),
        ("kernel", there.machine.kernel, here.machine.kernel),
        ("interpreter", there.toolchain.interpreter, here.toolchain.interpreter),
        ("compiler", there.toolchain.compiler, here.toolchain.compiler),
        ("sandbox", there.sandbox.get("backend"), here.sandbox.get("backend")),
        *((name, there.tools.get(name), here.tools.get(name)) for name in here.tools),
    ]
    for name, ours, theirs in facts:
        if ours is not None or theirs is not None:
            yield Comparison(name, str(ours), str(theirs), None)
