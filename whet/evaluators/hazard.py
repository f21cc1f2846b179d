"""Sanitizers for native programs: the candidate is built with them and runs small and timed inputs once more.

What they report of the candidate and not of the baseline on the same input is ``memory_error``: reads and writes
beyond what was allocated, memory used after it was freed, undefined behaviour, and races of threads. Such a program
may print what is right, here and today.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from whet.core.task import Kind
from whet.core.verdict import Reason
from whet.evaluators.artifacts import Artifact, Builder
from whet.evaluators.costs import Costs
from whet.evaluators.finding import BaselineLost, Fault, Passed, RungEndedError, Skipped
from whet.evaluators.inputs.source import Input, InputSource, derive
from whet.evaluators.languages.registry import language_of_task
from whet.evaluators.processes import START_SECONDS, fault
from whet.sandbox.protocol import Incident, Job, Session
from whet.sandbox.toolchains.native import PROGRAM

BUDGET_SECONDS = 2.4
"""CPU seconds of the baseline, by its class, for the inputs of one sanitizer. Built with one it takes up to ten times
as long."""
FEWEST_WATCHED = 3
"""Inputs that are watched however slow the baseline is: the smallest."""
MOST_CASES = 4
"""Recorded cases that are watched, the first ones, whatever they cost. More reach more of the program, take up to ten
times the baseline's time each, and leave less of `BUDGET_SECONDS` to drawn inputs."""
REPORTED = 77
"""Exit code that a sanitizer ends a program with when it reports."""
OPTIONS = f"exitcode={REPORTED}:halt_on_error=1:abort_on_error=0:print_legend=0"
STARTERS = (b"pthread_create", b"_M_start_thread", b"thrd_create")
"""Symbols of which a program that starts threads needs one; OpenMP's runtime is none that the sanitizer understands."""


@dataclass(frozen=True, slots=True)
class Sanitizer:
    """One way of building a program so that it watches itself.

    Attributes:
        name: for people.
        flags: of the compiler. The macro by which a program could tell is undefined.
        settings: variables of its environment.
    """

    name: str
    flags: tuple[str, ...]
    settings: tuple[str, ...]


ADDRESSES = Sanitizer(
    "addresses and undefined behaviour",
    ("-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-U__SANITIZE_ADDRESS__"),
    # Leaks are no fault: a program's memory goes with it. Nor can they be looked for where nothing may be traced.
    (f"ASAN_OPTIONS={OPTIONS}:detect_leaks=0:quarantine_size_mb=16", f"UBSAN_OPTIONS={OPTIONS}"),
)
RACES = Sanitizer(
    "races",
    ("-g", "-O1", "-fsanitize=thread", "-U__SANITIZE_THREAD__"),
    (f"TSAN_OPTIONS={OPTIONS}:report_signal_unsafe=0",),
)


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run ended.

    Attributes:
        code: negative is a signal.
        said: the end of its stderr.
    """

    code: int
    said: str

    @property
    def reported(self) -> bool:
        """Whether a sanitizer ended it."""
        return self.code == REPORTED


def check_hazards(
    builder: Builder, source: str, inputs: InputSource, seed: int, seconds: float, costs: Costs
) -> Passed | None:
    """Runs a candidate with sanitizers; None for what is no program that can be built with them.

    Args:
        builder: builds both sides.
        source: the candidate's text.
        inputs: draws inputs.
        seed: of the inputs.
        seconds: that one run may take.
        costs: of the baseline.

    Raises:
        RungEndedError: something is reported, or nothing can be watched.
    """
    if builder.task.kind is not Kind.PROGRAM or not language_of_task(builder.task).sanitized:
        return None
    used = (ADDRESSES, RACES) if _starts_threads(builder.built(source)) else (ADDRESSES,)
    counts, cut = {}, {}
    for sanitizer in used:
        items, planned = _inputs(inputs, derive(seed, sanitizer.name), costs)
        counts[sanitizer.name] = _watched(builder, source, sanitizer, items, seconds)
        if len(items) < planned:
            cut[sanitizer.name] = {"tried": len(items), "planned": planned}
    told = " and ".join(f"{count} inputs watched for {name}" for name, count in counts.items())
    few = "; larger ones were planned, but runs of the baseline are slow" if cut else ""
    return Passed(told + few, {"inputs": counts, "cut": cut})


def _starts_threads(artifact: Artifact) -> bool:
    binary = (artifact.tree / PROGRAM.format(layout=0)).read_bytes()
    return any(symbol in binary for symbol in STARTERS)


def _watched(builder: Builder, source: str, sanitizer: Sanitizer, items: Sequence[Input], seconds: float) -> int:
    """Returns how many inputs showed nothing, one at least."""
    ours, theirs = (builder.build(text, sanitizer.flags, layouts=1) for text in (builder.task.source, source))
    if isinstance(ours, Fault):
        raise _unwatched(f"no build that watches for {sanitizer.name}: {_last_line(ours)}")
    if isinstance(theirs, Fault):  # the original can be watched: what cannot may not want to be
        said = f"it does not build with {' '.join(sanitizer.flags)}, as the original does:\n{theirs.detail}"
        raise RungEndedError(Fault(Reason.BUILD_ERROR, said))
    baseline, candidate = _open(ours), _open(theirs)
    try:
        return _compared(builder, baseline, candidate, sanitizer, items, seconds)
    except Incident as incident:
        found = fault(incident, seconds)
        raise RungEndedError(Fault(found.reason, f"watched for {sanitizer.name}: {found.detail}")) from None
    finally:
        baseline.close()
        candidate.close()


def _unwatched(why: str) -> RungEndedError:
    return RungEndedError(Skipped(Reason.TOOL_MISSING, why))


def _last_line(found: Fault) -> str:
    return (found.detail.strip().splitlines()[-1:] or [""])[0][:200]


def _compared(
    builder: Builder,
    baseline: Session,
    candidate: Session,
    sanitizer: Sanitizer,
    items: Sequence[Input],
    seconds: float,
) -> int:
    clean = 0
    for item in items:
        ours = _run_baseline(builder, baseline, sanitizer, item, seconds)
        if ours.code < 0:
            raise _unwatched(f"no watching for {sanitizer.name} here: {ours.said[-200:]}")
        if ours.reported:
            continue
        theirs = _run(builder, candidate, sanitizer, item, seconds)
        if theirs.reported:
            if _run_baseline(builder, baseline, sanitizer, item, seconds).reported:
                continue  # a race, say, shows in some processes only
            said = f"{headline(theirs.said)}\non {item.name}"
            raise RungEndedError(Fault(Reason.MEMORY_ERROR, said, {"report": theirs.said[:4000]}))
        if theirs.code < 0:
            said = f"watched for {sanitizer.name}, ended by signal {-theirs.code} on {item.name}"
            raise RungEndedError(Fault(Reason.CRASH, said))
        clean += 1
    if not clean:
        said = f"the original itself, watched for {sanitizer.name}, is reported everywhere"
        raise RungEndedError(Skipped(Reason.NOT_ASKED, said))
    return clean


def _inputs(source: InputSource, seed: int, costs: Costs) -> tuple[list[Input], int]:
    """Returns the inputs to watch, the smallest first, and how many they would be where runs are cheap."""
    items = list(source.cases[:MOST_CASES])
    sizes = sorted({*source.sizes, *source.unlisted_sizes(derive(seed, "unlisted"))}) if source.sizes else []
    spent = sum(map(costs.of, items))
    left_out = 0
    for size in sizes:
        cost = costs.of_size(size)
        if len(items) >= FEWEST_WATCHED and spent + cost > BUDGET_SECONDS:
            left_out += 1
            continue
        items += source.try_draw(size, [derive(seed, size)])
        spent += cost
    return items, len(items) + left_out


def _open(artifact: Artifact) -> Session:
    builder = artifact.builder
    job = Job("programs", builder.interpreter, artifact.tree, builder.task.limits)
    return builder.sandbox.open(replace(job, reserves=True))


def _run(builder: Builder, session: Session, sanitizer: Sanitizer, item: Input, seconds: float) -> Ended:
    argv = ["/usr/bin/env", *sanitizer.settings, *builder.argv(session.tree)]
    session.ask("prepare", argv, item.payload, seconds=START_SECONDS)
    (kind, *answer), _ = session.ask("go", seconds=seconds)
    if kind == "error":
        return Ended(-1, str(answer[-1]))
    (_, _, stderr), _ = session.ask("output", seconds=START_SECONDS)
    return Ended(answer[0], stderr.decode("utf-8", "replace"))


def _run_baseline(builder: Builder, session: Session, sanitizer: Sanitizer, item: Input, seconds: float) -> Ended:
    try:
        return _run(builder, session, sanitizer, item, seconds)
    except Incident as incident:
        said = fault(incident, seconds).detail
        lost = BaselineLost(Reason.NONDETERMINISTIC, f"the original, watched for {sanitizer.name}: {said}")
        raise RungEndedError(lost) from None


def headline(report: str) -> str:
    """Returns what a report comes to, in a line: the kind of error and where in the source it is."""
    lines = [line.strip().replace("/tmp/", "") for line in report.splitlines()]
    for sign in ("runtime error:", "SUMMARY:", "ERROR:", "WARNING:"):
        for line in lines:
            if sign in line:
                return line.removeprefix("SUMMARY: ")[:300]
    return "a sanitizer ended it without a word"
