"""Whether verdicts can rest on this baseline, and what it takes to time it."""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

from whet.core.audit import NullOutcome
from whet.core.errors import BaselineError
from whet.core.task import Kind, Task
from whet.core.verdict import Reason
from whet.evaluators.artifacts import Artifact
from whet.evaluators.costs import Costs, measured
from whet.evaluators.examination import Examination
from whet.evaluators.finding import Fault
from whet.evaluators.inputs.source import Input, InputSource, derive
from whet.evaluators.inputs.target_text import RequiredOutcome
from whet.evaluators.inputs.type_hints import hints_of
from whet.evaluators.kernels.filters import filtered, not_a_number
from whet.evaluators.kernels.problem import WEIGHTS
from whet.evaluators.loading import line, started
from whet.evaluators.meters.base import Meter
from whet.evaluators.meters.time import TIME
from whet.evaluators.nulls import judge_nulls
from whet.evaluators.oracle import Oracle
from whet.evaluators.outcomes import CallOutcome, decode_call, decode_run
from whet.evaluators.processes import Pass, TargetProcess
from whet.evaluators.timing.workloads import MOST_INPUTS, SHORTEST_PASS, TimedWorkload, pass_count, repeated_count

TIMINGS = 3
"""Calls of an input beside its first; the median of all is its time, from which the lengths of passes follow. More make
it steadier, and each adds a call of every input to the validation."""
TYPED = 30
"""Examples of type hints that stand in where there is no workload."""
HEADLINE = 2
"""Workloads that the headline rests on, at most."""
LOOK_BYTES = 1 << 20
"""Of a pass of a size that the headline does not rest on: to hand them over takes some 0.05 s."""
SLOW_SECONDS = 1.0
"""Seconds of a first call from which it is not repeated: such a call makes a pass by itself, so its time need not be
exact. A larger limit takes four calls where these are slow."""
RETIMED_SECONDS = 0.25
"""What takes longer, all inputs of a name once, is not timed again in a later run: one of its inputs makes a pass,
even where a busy machine made the figure four times too large."""
SHORTEST_ROUND = 0.0002
"""Seconds that recorded calls must last together, each once, where a pass repeats them."""
LONGEST_ROUND = 0.25
"""Seconds up to which a pass takes all recorded calls of a group; of dearer ones each turn draws some."""
ALONE_SECONDS, MOST_ALONE = 0.002, 4**8
"""How long a native function is repeated on one input until its time is known, and how often at most."""
MANY = 10.0
"""A candidate may take as many times the baseline's own time, where that is more than the limit."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """A baseline that was found usable.

    Attributes:
        artifact: ready to run.
        seconds: its time for one input, by the input's name; of recorded calls the mean, by the name of their group.
        sizes: bytes of one input, likewise.
        limit: seconds that one call of a candidate may take.
        costs: the classes from which follows how many inputs are tried.
        meter: what it will be measured by.
        nulls: what the oracle that it gives makes of candidates that do no work.
        strengthened: what was added to the inputs because one of those passed at first; empty where none did.
        suspicions: what is said against the outputs of a kernel problem.
        validated: when an earlier run validated it, as ISO 8601; empty where this one did.
    """

    artifact: Artifact
    seconds: Mapping[str, float]
    sizes: Mapping[str, int]
    limit: float
    costs: Costs
    meter: Meter = TIME
    nulls: tuple[NullOutcome, ...] = ()
    strengthened: str = ""
    suspicions: tuple[str, ...] = ()
    validated: str = ""

    def workloads(self, source: InputSource, unseen: int | None = None) -> tuple[TimedWorkload, ...]:
        """Returns what is timed.

        Args:
            source: draws the inputs.
            unseen: None for the `headline` alone; a seed adds every other size that lasts long enough, and one that
                the workload does not list. None of those counts for the headline.
        """
        headline = self.headline(source)
        rows = [self._workload(name, source, True) for name in headline]
        if unseen is None:
            return tuple(rows)
        others = [name for name in self.seconds if name not in headline and name.startswith("size ")]
        rows += [work for name in others if self.lasts(work := self._workload(name, source, False))]
        low, high = (*source.timed_sizes, 0, 0)[:2]
        if high - low > 1:
            size = low + 1 + derive(unseen, "unseen") % (high - low - 1)
            if source.try_draw(size, [derive(unseen, "trial")]):
                dearest = max(self.seconds[name] for name in headline)
                rows.append(self._sized(f"size {size}", dearest, max(self.sizes.values()), source, False))
        return tuple(rows)

    def headline(self, source: InputSource) -> list[str]:
        """Returns the names of what the headline rests on.

        Those are the two last sizes, or dearest cases, without one that is too short to time; where both are, what
        else can be timed; and where nothing can, both.
        """
        ranked = _ranked(self.seconds, source)
        found = first = ranked[:HEADLINE]
        if self.meter.clocked or source.groups:
            lasting = [name for name in ranked if self.lasts(self._workload(name, source, True))]
            found = [name for name in first if name in lasting] or lasting[:HEADLINE] or first
        return found[::-1] if source.sizes else found

    def too_short(self, source: InputSource) -> dict[str, float]:
        """Returns the seconds of those of the two last sizes, or dearest cases, that serve correctness alone."""
        kept = self.headline(source)
        return {name: self.seconds[name] for name in _ranked(self.seconds, source)[:HEADLINE] if name not in kept}

    def lasts(self, work: TimedWorkload) -> bool:
        """Whether a pass is long enough to be timed; of a program each run must be, since it starts anew.

        Where a pass repeats recorded calls, one round must be long enough to tell whether the next one is cheaper.
        """
        if work.rounds > 1 and work.count / work.rounds * self.seconds[work.name] < SHORTEST_ROUND:
            return False
        runs = 1 if self.artifact.builder.task.kind is Kind.PROGRAM else work.count * max(1, work.repeats)
        return runs * self.seconds[work.name] >= SHORTEST_PASS

    def _workload(self, name: str, source: InputSource, counts: bool) -> TimedWorkload:
        work = self._sized(name, self.seconds[name], self.sizes[name], source, counts)
        count, calls = work.count, len(source.groups.get(name, ()))
        if calls and (count > calls or calls * self.seconds[name] <= LONGEST_ROUND):
            rounds = min(math.ceil(count / calls), max(1, MOST_INPUTS // calls))
            return replace(work, count=rounds * calls, rounds=rounds)
        return work

    def _sized(self, name: str, seconds: float, size: int, source: InputSource, counts: bool) -> TimedWorkload:
        """Returns a workload of as many inputs as the meter asks for, which come again where calls are short."""
        whole = self.meter.pass_seconds
        if not in_rounds(self.artifact.builder.task):
            count = pass_count(seconds, size, counts, whole)
            if not counts:
                # Short calls on large inputs would be many: of 2,000 of 20 kB each pass took 2.4 s.
                count = max(1, min(count, LOOK_BYTES // max(size, 1)))
            return TimedWorkload(name, count, Drawer(name, source), counts)
        count, repeats = repeated_count(seconds, size, counts, whole)
        return TimedWorkload(name, count, Drawer(name, source), counts, repeats=repeats)


def in_rounds(task: Task) -> bool:
    """Whether a pass calls on its inputs round after round: native functions, and torch modules.

    To hand over an input takes far longer than many of their calls.
    """
    return task.signature is not None or task.module is not None


def _ranked(seconds: Mapping[str, float], source: InputSource) -> list[str]:
    """Returns the names of the workloads, those first that shall count for the headline."""
    if source.sizes:
        return [f"size {size}" for size in reversed(source.sizes)]
    return sorted(seconds, key=lambda name: -seconds[name])


@dataclass(frozen=True, slots=True)
class Drawer:
    """Draws the distinct inputs of a pass; a recorded case is what it is, and recorded calls come round by round."""

    name: str
    source: InputSource

    def __call__(self, seed: int, count: int) -> list[Input]:
        """Returns that many inputs."""
        for case in self.source.cases:
            if case.name == self.name:
                return [case] * count
        if calls := self.source.groups.get(self.name):
            rng = random.Random(seed)
            rounds = [rng.sample(calls, len(calls)) for _ in range(math.ceil(count / len(calls)))]
            return [call for one in rounds for call in one][:count]
        size = int(self.name.removeprefix("size "))
        return self.source.draw(size, [derive(seed, i) for i in range(count)])


def retimed(task: Task, baseline: Baseline, source: InputSource, seed: int) -> Baseline:
    """Returns a baseline that an earlier run validated, with the seconds of what is timed as they are now.

    The lengths of passes follow from them, so that a machine that was busy then does no harm.

    Args:
        task: whose target it is.
        baseline: as the earlier run found it.
        source: draws the inputs.
        seed: of the inputs.

    Raises:
        BaselineError: it does not load, or fails on one of the inputs.
    """
    seconds = dict(baseline.seconds)
    with closing(started(task, baseline.artifact, 1)) as process:
        for name in _ranked(seconds, source)[:HEADLINE] if source.timeable else ():
            calls = source.groups.get(name, ())
            items = calls or Drawer(name, source)(derive(seed, "retimed", name), 2 if source.sizes else 1)
            if seconds[name] * len(items) <= RETIMED_SECONDS:
                found = [
                    _seconds(task, process, item, _run(task, process, item, task.limits.seconds)[1]) for item in items
                ]
                seconds[name] = statistics.fmean(found) if calls else min(found)
        if task.signature is not None:
            seconds |= _without_the_way(process, source, seconds, seed, task.limits.seconds)
    return replace(baseline, seconds=seconds)


def examine(
    task: Task,
    artifact: Artifact,
    source: InputSource,
    oracle: Oracle,
    seed: int,
    meter: Meter = TIME,
    shortest_limit: float | None = None,
) -> Baseline:
    """Runs the baseline on its own workload.

    Args:
        task: whose target it is.
        artifact: the baseline, built.
        source: draws the inputs.
        oracle: compares outcomes.
        seed: of the inputs.
        meter: what it will be measured by.
        shortest_limit: seconds that a call of a candidate may take, where many times the baseline's own are less; None
            for what the task allows.

    Raises:
        BaselineError: it fails to load, raises on a timed size, does not end, or is not deterministic.
    """
    seen: list[tuple[Input, bytes]] = []
    seconds: dict[str, float] = {}
    failed: list[str] = []
    # Two processes with two hash seeds: what comes from the order of a set shows.
    first = started(task, artifact, 1)
    try:
        second = started(task, artifact, 2)
        try:
            for item in _inputs(source, seed):
                outcome, spent = _examine(task, source, oracle, first, second, item)
                seen.append((item, outcome))
                seconds[item.name] = min(spent, seconds.get(item.name, spent))
            seconds = _of_groups(source, seconds)
            if task.signature is not None:
                seconds |= _without_the_way(first, source, seconds, seed, task.limits.seconds)
            for item in () if source.timeable else source.typed(derive(seed, "hints"), TYPED):
                outcome, spent = _examine(task, source, oracle, first, second, item)
                came = decode_call(outcome)
                if came.kind == "value":
                    seen.append((item, outcome))
                    seconds[item.name] = min(spent, seconds.get(item.name, spent))
                else:
                    failed.append(_failure(came))
        finally:
            second.close()
    finally:
        first.close()
    if not seen:
        raise BaselineError(
            f"{task.target} raises on all inputs that its type hints allow ({failed[0]}){_hinted(task)}", "raised"
        )
    costs = measured(artifact, source, task.limits.seconds)
    nulls, strengthened = _nulls(task, artifact, source, seen, seed, costs)
    lengths = _of_groups(source, {item.name: len(item.payload) for item, _ in seen})
    sizes = {name: round(length) for name, length in lengths.items()}
    shortest = task.limits.seconds if shortest_limit is None else shortest_limit
    limit = max(shortest, MANY * max(seconds.values()))
    said = _suspicions(seen) if task.module is not None else ()
    return Baseline(artifact, seconds, sizes, limit, costs, meter, nulls, strengthened, said)


def _suspicions(seen: list[tuple[Input, bytes]]) -> tuple[str, ...]:
    found: dict[int | None, list[Any]] = {}
    for item, outcome in seen:
        found.setdefault(item.size, []).append(decode_call(outcome).value)
    return tuple(dict.fromkeys(said for values in found.values() for said in filtered(values)))


def expect_fit(task: Task, baseline: Baseline, source: InputSource, timed: bool = True) -> None:
    """Returns where candidates can be judged and measured against this baseline.

    Args:
        task: whose target it is.
        baseline: as it was examined.
        source: draws the inputs.
        timed: whether anything is to be measured.

    Raises:
        BaselineError: it is too short to time, or an oracle made from it would accept a candidate that does no work.
    """
    if timed and baseline.meter.clocked and source.timeable:
        _expect_long_enough(task, baseline, source)
    if accepted := [null.name for null in baseline.nulls if null.accepted]:
        tried = max(null.inputs for null in baseline.nulls)
        raise BaselineError(
            f"the oracle of {task.target} is empty: a candidate that does no work ({', '.join(accepted)}) gives the "
            f"same outcomes on all {tried} inputs{', ' if baseline.strengthened else ''}{baseline.strengthened}; have "
            f"make_input vary what the target answers (whet audit says how){_of_object(task)}",
            "vacuous_oracle",
        )


def _nulls(
    task: Task, artifact: Artifact, source: InputSource, seen: list[tuple[Input, bytes]], seed: int, costs: Costs
) -> tuple[tuple[NullOutcome, ...], str]:
    """Judges the null candidates; where one passes, again on all that a candidate meets in the differential rung.

    Those are more draws, unlisted sizes, edges and the like. Any further ones would prove nothing: no candidate meets
    them.
    """
    nulls = judge_nulls(task, seen)
    if not any(null.accepted for null in nulls):
        return nulls, ""
    passed = ", ".join(null.name for null in nulls if null.accepted)
    seed = derive(seed, "strengthen")
    with closing(Examination(artifact, source, seed, 1, task.limits.seconds, costs)) as examination:
        steps = [step for steps in examination.groups() for step in steps if step.asked is RequiredOutcome.SAME]
    more = {step.item.payload: (step.item, step.expected) for step in reversed(steps)}.values()
    return judge_nulls(task, [*seen, *more]), f"{len(more)} of them added because {passed} passed the first {len(seen)}"


def _examine(
    task: Task, source: InputSource, oracle: Oracle, first: TargetProcess, second: TargetProcess, item: Input
) -> tuple[bytes, float]:
    """Returns the baseline's outcome on an input and its seconds, or raises BaselineError."""
    limit = task.limits.seconds
    outcome, spent = _run(task, first, item, limit)
    again, _ = _run(task, second, item, limit)
    _expect_value(task, source, item, outcome)
    if why := oracle.compare(_uncased(item), outcome, again):
        raise BaselineError(
            f"{task.target} is not deterministic ({line(why.detail)}, on {item.name}); seed its random numbers, "
            "sort what comes from sets, or loosen [oracle] tolerance",
            "nondeterministic",
        )
    if item.expected is not None and (fault := oracle.judge(item, outcome, outcome)):
        raise BaselineError(f"{task.target} fails its own case {item.name}: {line(fault.detail)}", "own_tests")
    if why_not := source.check(item.payload, oracle.checkable(outcome)):
        raise BaselineError(f"{task.target} fails the workload's own check on {item.name}: {why_not}", "check")
    return outcome, _seconds(task, first, item, spent)


def _seconds(task: Task, process: TargetProcess, item: Input, first: float) -> float:
    """Returns the median time of calls with an input; of a slow one the first call alone."""
    if first >= SLOW_SECONDS:
        return first
    return statistics.median([first, *(_run(task, process, item, task.limits.seconds)[1] for _ in range(TIMINGS))])


def _without_the_way(
    process: TargetProcess, source: InputSource, seconds: Mapping[str, float], seed: int, limit: float
) -> dict[str, float]:
    """Returns the seconds of a call of a native function by the workload, without what a call from Python takes."""
    found = {}
    for size in source.sizes:
        payloads = [item.payload for item in source.draw(size, [derive(seed, "alone", size)])]
        repeats, one = 1, process.timed(payloads, limit, 1)
        while isinstance(one, Pass) and one.inside < ALONE_SECONDS and repeats < MOST_ALONE:
            repeats *= 4
            one = process.timed(payloads, limit, repeats)
        if isinstance(one, Pass):
            found[f"size {size}"] = min(one.inside / repeats, seconds[f"size {size}"])
    return found


def _uncased(item: Input) -> Input:
    return Input(item.name, item.payload, item.size, item.seed)


def _inputs(source: InputSource, seed: int) -> list[Input]:
    count = 2 if source.task.module is None else WEIGHTS + 1  # two of them have the same weights
    drawn = [source.draw(size, [derive(seed, size, i) for i in range(count)]) for size in source.sizes]
    return [*source.cases, *source.recorded, *(item for pair in drawn for item in pair)]


def _of_groups(source: InputSource, figures: Mapping[str, float]) -> dict[str, float]:
    """Returns figures by the input's name, but for recorded calls the mean of each of their groups."""
    if not source.groups:
        return dict(figures)
    return {name: statistics.fmean(figures[call.name] for call in calls) for name, calls in source.groups.items()}


def _run(task: Task, process: TargetProcess, item: Input, limit: float) -> tuple[bytes, float]:
    answer = process.call(item.payload, limit)
    if isinstance(answer, Fault):
        if answer.reason is Reason.TIMEOUT:
            raise BaselineError(
                f"{task.target} did not end within {limit:g} s on {item.name}; make the workload smaller", "timeout"
            )
        if task.features and "SIGILL" in answer.detail:
            raise BaselineError(
                f"{task.target} does not run on this processor, which lacks an instruction that its features "
                f"({', '.join(task.features)}) allow; leave out what is not here, or use another machine",
                Reason.UNSUPPORTED_CPU.value,
            )
        raise BaselineError(f"{task.target} failed on {item.name}: {line(answer.detail)}", answer.reason.value)
    return answer


def _expect_value(task: Task, source: InputSource, item: Input, outcome: bytes) -> None:
    if task.kind is Kind.PROGRAM:
        code = decode_run(outcome).code
        if code != 0 and item.size in source.timed_sizes:
            raise BaselineError(f"{task.target} ended with exit code {code} on {item.name}", "crash")
        return
    came = decode_call(outcome)
    kind, value = came.kind, came.value
    if kind == "unstorable":
        mend = "make a function the target that takes and returns plain data, and calls this one"
        raise BaselineError(f"{task.target} cannot be compared on {item.name}: {value}; {mend}", "unstorable")
    if kind == "memory":
        raise BaselineError(f"{task.target} ran out of memory on {item.name}", "out_of_memory")
    if task.module is not None and (where := not_a_number(value)):
        raise BaselineError(f"{task.target} gives NaN on {item.name} ({where}), which equals nothing", "not_a_number")
    if kind == "raise" and (item.size in source.timed_sizes or item in source.recorded):
        said = f"{task.target} raised {_failure(came)}, on {item.name}, which is timed"
        raise BaselineError(f"{said}{_hinted(task)}", "raised")


def _failure(came: CallOutcome) -> str:
    """Returns an exception, or why there is no value, as one line."""
    if came.kind == "raise":
        return f"{came.exception}: {line(came.value[1])[:200]}"
    return f"{came.kind}: {came.value}"


def _expect_long_enough(task: Task, baseline: Baseline, source: InputSource) -> None:
    works = baseline.workloads(source)
    if any(map(baseline.lasts, works)):
        return
    work = max(works, key=lambda one: baseline.seconds[one.name])
    if work.rounds > 1:
        raise BaselineError(
            f"{task.target} takes {baseline.seconds[work.name] * 1e3:.3g} ms on {work.name}, too short to "
            f"time: all {work.count // work.rounds} together must last {SHORTEST_ROUND * 1e3:g} ms; "
            "record more or larger ones, or give --workload FILE",
            "too_short",
        )
    unit = "a run" if task.kind is Kind.PROGRAM else f"a pass of {work.count} inputs"
    raise BaselineError(
        f"{task.target} takes {baseline.seconds[work.name] * 1e3:.3g} ms on {work.name}, too short to time: "
        f"{unit} must last {SHORTEST_PASS * 1e3:g} ms; give larger sizes{_hinted(task)}",
        "too_short",
    )


def _of_object(task: Task) -> str:
    """Returns what to do about a method that may change its object alone; empty for a function."""
    if task.kind is not Kind.FUNCTION or "." not in (task.symbol or ""):
        return ""
    return '; where it changes its object alone, have make_input give the object itself as "init"'


def _hinted(task: Task) -> str:
    """Returns what to do about inputs that were made from type hints; empty where they were not."""
    if task.workload.given:
        return ""
    return f"; its inputs were made from type hints ({hints_of(task)}): mend a wrong one, or give --workload FILE"
