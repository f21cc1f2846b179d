"""Whether a bundle agrees with itself: everything in it that follows from something else in it is worked out again.

What nothing else in the bundle tells (the machine, say) cannot be checked so; for that there are signatures, and the
repetition.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from pydantic import ValidationError

from whet.core.condition import conditions_in
from whet.core.errors import UsageError
from whet.core.evidence import Evidence
from whet.core.measurement import OF_TIME, Measurement
from whet.core.options import Options
from whet.core.plain import from_plain, to_plain
from whet.core.result import status_of
from whet.core.rungs import CHECKS, RUNGS, beyond, place
from whet.core.task import Task
from whet.core.verdict import NO_GAIN, Rung, RungStatus, Verdict
from whet.evaluators.evidence.bundle import Bundle, clashing
from whet.evaluators.evidence.record import BASELINE, BINARY, CANDIDATE, SUPPORT, TESTS, WORKLOAD, candidate_of, task_of
from whet.evaluators.evidence.unpaid import charged_seconds, odd_costs
from whet.evaluators.finding import found_by
from whet.evaluators.kernels import compiled
from whet.evaluators.meters.base import Meter
from whet.evaluators.meters.registry import reading_meter
from whet.evaluators.rungs import conclusion, reason_of
from whet.evaluators.timing.bench import MOST_ANEW
from whet.evaluators.timing.constraints import constrained, wanted
from whet.evaluators.timing.decision import Rule, least, rejudge
from whet.evaluators.timing.metrics import looks_at, piloted
from whet.evaluators.timing.plan import enough, pilot
from whet.evaluators.timing.quiet import disturbed
from whet.evaluators.timing.statistics import Stage
from whet.evaluators.timing.turns import from_raw
from whet.evaluators.timing.workloads import MOST_INPUTS
from whet.sandbox.toolchains.native import BY_CLANG

TIMED = ("measure", "confirm")
NEEDED = ("screen", "build", "differential", *TIMED)
"""Rungs that are left out only where ``until`` says so."""
CLOSE = 1e-9
"""How far figures that are worked out again may lie apart: another numpy may add in another order."""


def contradictions(bundle: Bundle) -> list[str]:
    """Returns what in a bundle contradicts something else in it, a line each; empty where nothing does."""
    found = [*_texts(bundle)]
    if found:
        return found  # the rest could not even be told apart from what follows from these
    return [*_candidate(bundle), *_rungs(bundle), *_differential(bundle), *_figures(bundle)]


def _texts(bundle: Bundle) -> Iterator[str]:
    record = bundle.record
    own = {f"{BASELINE}/{record.task.filename}", f"{CANDIDATE}/{record.task.filename}", WORKLOAD}
    for name, data in bundle.texts.items():
        if name not in own and not name.startswith((f"{SUPPORT}/", f"{TESTS}/", *BINARY)):
            yield f"{name} belongs to nothing"
        elif record.code.get(name) != hashlib.sha256(data).hexdigest():
            yield f"code has another hash, or none, for {name}"
    yield from (f"{name} is missing" for name in record.code if name not in bundle.texts)
    for folder in (BASELINE, CANDIDATE):
        wanted = f"{folder}/{record.task.filename}"
        if wanted not in bundle.texts:
            yield f"{wanted} is missing"
    if not all(_is_text(data) for name, data in bundle.texts.items() if not name.startswith(BINARY)):
        yield "a source is not UTF-8 text"
    support = [name.removeprefix(f"{SUPPORT}/") for name in bundle.texts if name.startswith(f"{SUPPORT}/")]
    if clashing([*support, record.task.filename]):
        yield "one of the target's files lies in another"
    tests = {name.removeprefix(f"{TESTS}/"): hash for name, hash in record.code.items() if name.startswith(f"{TESTS}/")}
    if tests != dict(record.provenance.tests):
        yield "the files of the tests are not those of the provenance"
    if (record.task.tests is None) != (record.provenance.test_target is None):
        yield "there are tests without a command, or a command without tests"
    if record.provenance.test_target is not None and clashing([*tests, record.provenance.test_target]):
        yield "one of the tests' files lies in another"


def _is_text(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _candidate(bundle: Bundle) -> Iterator[str]:
    record = bundle.record
    ours, theirs = (bundle.texts[f"{folder}/{record.task.filename}"] for folder in (BASELINE, CANDIDATE))
    if record.candidate.id != hashlib.sha256(theirs).hexdigest():
        yield "candidate.id is not the hash of the candidate"
    if record.candidate.diff != candidate_of(bundle).diff(ours.decode("utf-8"), record.task.filename):
        yield "candidate.diff does not lead from the baseline to the candidate"
    if record.command == "verify" and record.candidate.parent != hashlib.sha256(ours).hexdigest():
        yield "candidate.parent is not the hash of the baseline"


def _rungs(bundle: Bundle) -> Iterator[str]:
    """Whether the rungs are all there, in order, and end where they must."""
    rungs, until = bundle.record.rungs, bundle.record.settings.until
    names = [rung.name for rung in rungs]
    places = [place(name) for name in names]
    if len(set(names)) < len(names) or places != sorted(places):
        yield f"rungs are repeated or out of order: {', '.join(names)}"
        return
    failed = [rung for rung in rungs if rung.status is RungStatus.FAILED or _undecided(rung)]
    if failed and failed != [rungs[-1]]:
        yield f"rungs.{failed[0].name} {failed[0].status}, and others follow"
    last = place(failed[0].name) if failed else len(RUNGS)
    for name in (*CHECKS, *TIMED):
        if place(name) <= last and name not in names:
            yield f"rungs.{name} is missing"
    for rung in rungs:
        if (rung.reason is None) is not (
            rung.status is RungStatus.PASSED
        ) and rung.status is not RungStatus.INCONCLUSIVE:
            yield f"rungs.{rung.name} is {rung.status} with the reason {rung.reason}"
        unasked = beyond(rung.name, until)
        if rung.name in NEEDED and (rung.status is RungStatus.SKIPPED) is not unasked:
            yield f"rungs.{rung.name} is {rung.status}, and until is {until}"


def _undecided(rung: Rung) -> bool:
    """Whether a rung said neither yes nor no, and so was the last."""
    return rung.status is RungStatus.INCONCLUSIVE and rung.reason is not None


def _first_number(text: str) -> int | None:
    found = re.search(r"\d+", text)
    return None if found is None else int(found[0])


def _differential(bundle: Bundle) -> Iterator[str]:
    for rung in bundle.record.rungs:
        drawn = rung.evidence if rung.name == "differential" else rung.evidence.get("differential")
        if not isinstance(drawn, Mapping) or rung.status is RungStatus.SKIPPED:
            continue
        seeds, sources = (drawn.get("seed", 0), drawn.get("hash_seed", 0)), drawn.get("sources", {})
        if not all(type(seed) is int and 0 <= seed < 1 << 64 for seed in seeds) or seeds[1] >= 1 << 32:
            yield f"rungs.{rung.name}: its seeds are none"
        if not isinstance(sources, Mapping) or not all(type(one) is int and one >= 0 for one in sources.values()):
            yield f"rungs.{rung.name}: its sources are not counted"
        try:
            conditions_in(drawn)
        except ValidationError:
            yield f"rungs.{rung.name}: its conditions are none"
        count, hashes = drawn.get("inputs"), drawn.get("hashes")
        if count is None and hashes is None and rung.status in (RungStatus.FAILED, RungStatus.INCONCLUSIVE):
            continue
        names = hashes if isinstance(hashes, list) and all(isinstance(one, str) for one in hashes) else []
        if len(names) != count or not (names or rung.status in (RungStatus.FAILED, RungStatus.INCONCLUSIVE)):
            yield f"rungs.{rung.name}: {count} inputs have {len(names)} hashes"
        elif rung.name == "differential" and rung.status is RungStatus.PASSED and _first_number(rung.detail) != count:
            yield f"rungs.{rung.name}: its detail tells of another number of inputs than {count}"


def _figures(bundle: Bundle) -> Iterator[str]:
    """Whether ratios, intervals, p-values, outcomes, status and headline follow from the raw samples."""
    record = bundle.record
    settings = record.settings
    try:
        asked = Options(
            metric=settings.metric,
            max_memory=settings.max_memory,
            max_time=settings.max_time,
            quick=settings.quick,
        )
    except UsageError as error:
        yield f"settings: {error}"
        return
    meters = [reading_meter(name, record.task.kind) for name in (asked.metrics[0], *asked.beside)]
    task = task_of(bundle, None)
    headline: Measurement | None = None
    for rung in record.rungs:
        if rung.name not in TIMED or rung.status is RungStatus.SKIPPED:
            continue
        try:
            measured, wrong = _joined(bundle, rung, task, meters, asked)
        except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, UsageError) as error:
            yield f"rungs.{rung.name}: its samples cannot be judged: {_first_line(error)}"
            return
        yield from wrong
        if measured is not None:
            headline = measured
            yield from _concluded(rung, headline)
        elif not wrong and (rung.status is RungStatus.PASSED or rung.reason in NO_GAIN):
            yield f"rungs.{rung.name} is {rung.reason or rung.status} without samples"
    verdict = Verdict(record.candidate.id, record.rungs, headline)
    if record.status is not status_of(verdict):
        yield f"status is {record.status}, and the rungs say {status_of(verdict)}"
    speedup = headline.speedup if headline is not None and verdict.correct else None
    if not _same(to_plain(record.speedup), to_plain(speedup)):
        yield "speedup does not follow from the samples"
    if headline is not None and not set(headline.labels) <= set(record.candidate.labels):
        yield f"candidate.labels lack {', '.join(headline.labels)}"


def _joined(
    bundle: Bundle, rung: Rung, task: Task, meters: Sequence[Meter], asked: Options
) -> tuple[Measurement | None, list[str]]:
    """Returns what the samples of a timed rung come to in all metrics, if there are any, and what does not follow."""
    first, found, wrong = meters[0], list[Measurement](), list[str]()
    for meter in meters:
        looked = looks_at(meter, asked)
        looks = {"optimize": looked.search, "verify": looked.verdict}
        usual = looks.get(bundle.record.command, ()) if meter is first else looked.beside
        stages = looked.confirm if rung.name == "confirm" else usual
        own = rung if meter is first else replace(rung, evidence=rung.evidence.get("beside", {}).get(meter.name, {}))
        confirmed_next = rung.name == "measure" and _is_confirmed(bundle.record)
        pilots = pilot(asked.confidence) if confirmed_next and piloted([one.name for one in meters]) else ()
        measured = list(_measured(bundle, own, task, meter, stages, pilots))
        wrong += [one for one in measured if isinstance(one, str)]
        if kept := [one for one in measured if isinstance(one, Measurement)]:
            found.append(least(kept))
        elif found and wanted(meter.name, asked.metrics, found):
            wrong.append(f"rungs.{rung.name}: {meter.name} was asked for and not measured")
    if wrong or not found:
        return None, wrong
    return constrained(found[0], found[1:], asked.constraints), []


def _is_confirmed(record: Evidence) -> bool:
    """Whether a rewrite was taken through the confirm rung right after it was measured."""
    confirmed = any(rung.name == "confirm" and rung.status is not RungStatus.SKIPPED for rung in record.rungs)
    return record.command == "verify" and confirmed


def _measured(
    bundle: Bundle, rung: Rung, task: Task, meter: Meter, usual: tuple[Stage, ...], first: tuple[Stage, ...]
) -> Iterator[Measurement | str]:
    """Yields each measurement of a metric as it follows from its samples, or what of it does not.

    Args:
        bundle: the evidence.
        rung: which was timed.
        task: that is judged.
        meter: of the metric.
        usual: when samples are looked at.
        first: when they are, where a pilot shows a gain that is confirmed next; none where all looks are taken.
    """
    record = bundle.record
    rows = rung.evidence.get("measurements", [])
    flags = [tuple(row["flags"]) for row in rows if "compiled" not in row]
    refused = [tuple(one["flags"]) for one in rung.evidence.get("not_built", ()) if BY_CLANG in one["flags"]]
    variants = list(meter.variants(task, candidate_of(bundle).source))[: None if rung.name == "confirm" else 1]
    variants = [one for one in variants if one not in refused]
    if rows and flags != variants:
        yield f"rungs.{rung.name}: measured with the flags {flags}, not {variants}"
    yield from (f"rungs.{rung.name}: {line}" for line in left_uncompiled(rung, rows, task, meter))
    for row in rows:
        known = {name: value for name, value in row.items() if name not in ("flags", "compiled")}
        recorded = from_plain(Measurement, known)
        theirs = tuple(from_plain(Stage, stage) for stage in recorded.raw["stages"])
        stages = compiled.STAGES if "compiled" in row else first if theirs == first else usual
        if theirs != stages:
            yield f"rungs.{rung.name}: the samples were not looked at when {record.command} looks at them"
            continue
        yield from (f"rungs.{rung.name}: {line}" for line in _odd_turns(recorded.raw, record.settings.cores))
        yield from (f"rungs.{rung.name}: {line}" for line in odd_costs(recorded.raw))
        rule = Rule(record.settings.min_speedup, record.settings.confidence, recorded.speedup.baseline, meter)
        again = found_by(partial(rejudge, recorded.raw, stages, rule))
        if not isinstance(again, Measurement):
            yield f"rungs.{rung.name}: its samples show {again.reason}"
            continue
        if stages == first and not enough(again):
            yield f"rungs.{rung.name}: no gain worth confirming was shown, and not all looks were taken"
        ours, said = to_plain(again), to_plain(recorded)
        differing = [name for name in ours if name != "raw" and not _same(ours[name], said[name])]
        if not _same(again.raw["dropped"], recorded.raw["dropped"]):
            yield f"rungs.{rung.name}: turns were dropped otherwise than their waiting and pace say"
        if differing:
            yield f"rungs.{rung.name}: {', '.join(differing)} of a measurement not as the samples show"
        yield again


def left_uncompiled(rung: Rung, rows: Sequence[Mapping[str, Any]], task: Task, meter: Meter) -> Iterator[str]:
    """Says where a kernel that passed was not measured against all that torch.compile makes of its problem."""
    if rung.name != "confirm" or rung.status is not RungStatus.PASSED:
        return
    if meter.name not in OF_TIME or not compiled.can_be_compiled(task):
        return
    known = {mode for row in rows for mode in row.get("compiled", ())} | set(rung.evidence.get("not_compiled", {}))
    if missing := set(compiled.MODES) - known:
        yield f"not measured against torch.compile ({', '.join(sorted(missing))})"


def _odd_turns(raw: Mapping[str, Any], cores: int) -> Iterator[str]:
    turns = raw["turns"]
    if {turn["charged"] for turn in turns} - {0.0, charged_seconds(raw.get("hidden_costs", {}))}:
        yield "turns are charged with other seconds than its hidden costs"
    if any(len(turn["cores"]) != cores for turn in turns):
        yield f"turns ran on another number of cores than {cores}"
    counts = {work["name"]: work["count"] for work in raw["workloads"]}
    if not all(type(count) is int and 0 < count <= MOST_INPUTS for count in counts.values()):
        yield f"a pass has other than 1 to {MOST_INPUTS} inputs"
    if not all(1 <= scale <= MOST_INPUTS for turn in turns for scale in turn["scale"].values()):
        yield "passes of the candidate are shorter than the baseline's, or too long"
    if any(set(turn["inputs"]) != set(counts) or set(turn["passes"]) != set(counts) for turn in turns):
        yield "turns have other workloads than the measurement"
    for turn in turns:
        sides = [set(passes) for passes in turn["passes"].values()]
        if any(side - set(turn["order"]) for side in sides) or len(set(turn["order"])) != len(turn["order"]):
            yield "a turn has sides that its order does not name"
            break
    anew = [turn.left_out for turn in from_raw(turns)]
    if any(len(one) > MOST_ANEW for one in anew) or any(not disturbed(each) for one in anew for each in one):
        yield "processes were run anew that nothing disturbed, or too many"


def _concluded(rung: Rung, measured: Measurement) -> Iterator[str]:
    """Whether a timed rung says what its measurement came to."""
    if rung.status is RungStatus.FAILED and rung.reason not in NO_GAIN:
        return
    reason = None if measured.faster else reason_of(measured)
    if rung.reason is not reason or not rung.detail.startswith(conclusion(measured)):
        yield f"rungs.{rung.name} says {rung.reason or rung.status}, and its samples {measured.outcome}"
    said = {name: rung.evidence.get(name) for name in ("p_value", "outcome")}
    if not _same(said, {"p_value": measured.p_value, "outcome": measured.outcome.value}):
        yield f"rungs.{rung.name}: p_value or outcome not as the samples show"


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return math.isclose(a, b, rel_tol=CLOSE, abs_tol=CLOSE)
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(_same(a[name], b[name]) for name in a)
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(_same(x, y) for x, y in zip(a, b, strict=True))
    return bool(a == b)


def _first_line(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return str(error).partition("\n")[0]
