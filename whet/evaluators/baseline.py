"""Whether verdicts can rest on this baseline, and what it takes to time it."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass

from whet.core.audit import NullOutcome
from whet.core.errors import BaselineError
from whet.core.task import Kind, Task
from whet.core.verdict import Reason
from whet.evaluators.differential import compare_all
from whet.evaluators.finding import Fault
from whet.evaluators.inputs.source import Input, InputSource, derive
from whet.evaluators.meters.base import Meter
from whet.evaluators.meters.time import TIME
from whet.evaluators.nulls import judge_nulls
from whet.evaluators.oracle import Oracle
from whet.evaluators.subjects import Live, Subject
from whet.evaluators.timing.turns import SHORTEST_PASS, TimedWorkload, pass_count
from whet.sandbox.inside.decode import decode

TIMINGS = 3
TYPED = 30
"""Examples of type hints that stand in where there is no workload."""
SLOW_SECONDS = 1.0
MANY = 10.0
"""A candidate may take as many times the baseline's own time, where that is more than the limit."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """A baseline that was found usable.

    Attributes:
        subject: ready to run.
        seconds: its time for one input, by the input's name.
        sizes: bytes of one input, by its name.
        limit: seconds that one call of a candidate may take.
        tests: how many of the target's own tests pass, where they say so.
        meter: what it will be measured by.
        nulls: what the oracle that it gives makes of candidates that do no work.
        strengthened: what was added to the inputs because one of those passed at first; empty where none did.
    """

    subject: Subject
    seconds: Mapping[str, float]
    sizes: Mapping[str, int]
    limit: float
    tests: int | None = None
    meter: Meter = TIME
    nulls: tuple[NullOutcome, ...] = ()
    strengthened: str = ""

    def workloads(self, source: InputSource, unseen: int | None = None) -> tuple[TimedWorkload, ...]:
        """Returns what is timed.

        Args:
            source: draws the inputs.
            unseen: None for the two last sizes (or dearest cases) alone; a seed adds every other size that lasts
                long enough, and one that the workload does not list. None of those counts for the headline.
        """
        headline = timed_names(self.seconds, source)
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
                count = pass_count(dearest, max(self.sizes.values()), False, self.meter.pass_seconds)
                rows.append(TimedWorkload(f"size {size}", count, Drawer(f"size {size}", source), False))
        return tuple(rows)

    def lasts(self, work: TimedWorkload) -> bool:
        """Whether a pass is long enough to be timed; of a program each run must be, since it starts anew."""
        runs = 1 if self.subject.workshop.task.kind is Kind.PROGRAM else work.count
        return runs * self.seconds[work.name] >= SHORTEST_PASS

    def _workload(self, name: str, source: InputSource, counts: bool) -> TimedWorkload:
        count = pass_count(self.seconds[name], self.sizes[name], counts, self.meter.pass_seconds)
        return TimedWorkload(name, count, Drawer(name, source), counts)


def timed_names(seconds: Mapping[str, float], source: InputSource) -> list[str]:
    """Returns the names of what counts for the headline."""
    if source.sizes:
        return [f"size {size}" for size in source.timed_sizes]
    return sorted(seconds, key=lambda name: -seconds[name])[:2]


@dataclass(frozen=True, slots=True)
class Drawer:
    """Draws the distinct inputs of a pass; a recorded case is what it is."""

    name: str
    source: InputSource

    def __call__(self, seed: int, count: int) -> list[Input]:
        """Returns that many inputs."""
        for case in self.source.cases:
            if case.name == self.name:
                return [case] * count
        size = int(self.name.removeprefix("size "))
        return self.source.draw(size, [derive(seed, i) for i in range(count)])


def examine(
    task: Task,
    subject: Subject,
    source: InputSource,
    oracle: Oracle,
    seed: int,
    meter: Meter = TIME,
    shortest_limit: float | None = None,
) -> Baseline:
    """Runs the baseline on its own workload.

    Args:
        task: whose target it is.
        subject: the baseline, built.
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
    # Two processes with two hash seeds: what comes from the order of a set shows.
    first = _start(task, subject, 1)
    try:
        second = _start(task, subject, 2)
        try:
            for item in _inputs(source, seed):
                outcome, spent = _examine(task, source, oracle, first, second, item)
                seen.append((item, outcome))
                seconds[item.name] = min(spent, seconds.get(item.name, spent))
            for item in () if source.timeable else source.typed(derive(seed, "hints"), TYPED):
                outcome, spent = _examine(task, source, oracle, first, second, item)
                if decode(outcome)[0] == "value":
                    seen.append((item, outcome))
                    seconds[item.name] = min(spent, seconds.get(item.name, spent))
        finally:
            second.close()
    finally:
        first.close()
    if not seen:
        raise BaselineError(
            f"{task.target} raises on all inputs that its type hints allow; give --workload FILE", "raised"
        )
    nulls, strengthened = _nulls(task, subject, source, seen, seed)
    sizes = {item.name: len(item.payload) for item, _ in seen}
    shortest = task.limits.seconds if shortest_limit is None else shortest_limit
    limit = max(shortest, MANY * max(seconds.values()))
    return Baseline(subject, seconds, sizes, limit, meter=meter, nulls=nulls, strengthened=strengthened)


def expect_fit(task: Task, baseline: Baseline, source: InputSource) -> None:
    """Returns where candidates can be judged and measured against this baseline.

    Raises:
        BaselineError: it is too short to time, or an oracle made from it would accept a candidate that does no work.
    """
    if baseline.meter.clocked and source.timeable:
        _expect_long_enough(task, baseline, source)
    if accepted := [null.name for null in baseline.nulls if null.accepted]:
        tried = max(null.inputs for null in baseline.nulls)
        raise BaselineError(
            f"the oracle of {task.target} is empty: a candidate that does no work ({', '.join(accepted)}) gives the "
            f"same outcomes on all {tried} inputs{', ' if baseline.strengthened else ''}{baseline.strengthened}; have "
            "make_input vary what the target answers (whet audit says how)",
            "vacuous_oracle",
        )


def _nulls(
    task: Task, subject: Subject, source: InputSource, seen: list[tuple[Input, bytes]], seed: int
) -> tuple[tuple[NullOutcome, ...], str]:
    """Judges the null candidates; where one passes, again on all that a candidate meets in the differential rung.

    Those are more draws, unlisted sizes, edges and the like. Any further ones would prove nothing: no candidate meets
    them.
    """
    nulls = judge_nulls(task, seen)
    if not any(null.accepted for null in nulls):
        return nulls, ""
    passed = ", ".join(null.name for null in nulls if null.accepted)
    recorder = _Recorder(task, source)
    compare_all(subject, subject, source, recorder, derive(seed, "strengthen"), 1, task.limits.seconds)
    more = recorder.seen.values()
    return judge_nulls(task, [*seen, *more]), f"{len(more)} of them added because {passed} passed the first {len(seen)}"


class _Recorder(Oracle):
    """Remembers what it is asked about, and takes it for right."""

    def __init__(self, task: Task, source: InputSource) -> None:
        super().__init__(task, source)
        self.seen: dict[bytes, tuple[Input, bytes]] = {}

    def judge(self, item: Input, expected: bytes, actual: bytes) -> Fault | None:
        """Remembers an input and the baseline's outcome on it."""
        self.seen.setdefault(item.payload, (item, expected))
        return None


def _examine(
    task: Task, source: InputSource, oracle: Oracle, first: Live, second: Live, item: Input
) -> tuple[bytes, float]:
    """Returns the baseline's outcome on an input and its seconds, or raises BaselineError."""
    limit = task.limits.seconds
    outcome, spent = _run(task, first, item, limit)
    again, _ = _run(task, second, item, limit)
    _expect_value(task, source, item, outcome)
    if why := oracle.compare(_uncased(item), outcome, again):
        raise BaselineError(
            f"{task.target} is not deterministic ({_line(why.detail)}, on {item.name}); seed its random numbers, "
            "sort what comes from sets, or loosen [oracle] tolerance",
            "nondeterministic",
        )
    if item.expected is not None and (fault := oracle.judge(item, outcome, outcome)):
        raise BaselineError(f"{task.target} fails its own case {item.name}: {_line(fault.detail)}", "own_tests")
    if why_not := source.check(item.payload, oracle.checkable(outcome)):
        raise BaselineError(f"{task.target} fails the workload's own check on {item.name}: {why_not}", "check")
    timings = [spent]
    if spent < SLOW_SECONDS:
        timings += [_run(task, first, item, limit)[1] for _ in range(TIMINGS)]
    return outcome, statistics.median(timings)


def _uncased(item: Input) -> Input:
    return Input(item.name, item.payload, item.size, item.seed)


def _inputs(source: InputSource, seed: int) -> list[Input]:
    drawn = [source.draw(size, [derive(seed, size, i) for i in range(2)]) for size in source.sizes]
    return [*source.cases, *(item for pair in drawn for item in pair)]


def _start(task: Task, subject: Subject, hash_seed: int) -> Live:
    live = subject.start(hash_seed=hash_seed)
    if isinstance(live, Fault):
        raise BaselineError(f"{task.target} does not load: {_line(live.detail)}", live.reason.value)
    return live


def _run(task: Task, live: Live, item: Input, limit: float) -> tuple[bytes, float]:
    answer = live.call(item.payload, limit)
    if isinstance(answer, Fault):
        if answer.reason is Reason.TIMEOUT:
            raise BaselineError(
                f"{task.target} did not end within {limit:g} s on {item.name}; make the workload smaller", "timeout"
            )
        raise BaselineError(f"{task.target} failed on {item.name}: {_line(answer.detail)}", answer.reason.value)
    return answer


def _expect_value(task: Task, source: InputSource, item: Input, outcome: bytes) -> None:
    decoded = decode(outcome)
    if task.kind is Kind.PROGRAM:
        if decoded[0] != 0 and item.size in source.timed_sizes:
            raise BaselineError(f"{task.target} ended with exit code {decoded[0]} on {item.name}", "crash")
        return
    kind, _, _, value, _ = decoded
    if kind == "unstorable":
        raise BaselineError(f"{task.target} cannot be compared on {item.name}: {value}", "unstorable")
    if kind == "memory":
        raise BaselineError(f"{task.target} ran out of memory on {item.name}", "out_of_memory")
    if kind == "raise" and item.size in source.timed_sizes:
        name = value[0].rpartition(":")[2]
        raise BaselineError(f"{task.target} raised {name} on {item.name}, which is timed: {value[1][:200]}", "raised")


def _expect_long_enough(task: Task, baseline: Baseline, source: InputSource) -> None:
    for work in baseline.workloads(source):
        if not baseline.lasts(work):
            unit = "a run" if task.kind is Kind.PROGRAM else f"a pass of {work.count} inputs"
            raise BaselineError(
                f"{task.target} takes {baseline.seconds[work.name] * 1e3:.3g} ms on {work.name}, too short to time: "
                f"{unit} must last {SHORTEST_PASS * 1e3:g} ms; give larger sizes",
                "too_short",
            )


def _line(text: str) -> str:
    return " ".join(text.split())[:400]
