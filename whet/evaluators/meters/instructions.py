"""Instructions, counted in a run of their own and believed as far as the clock outside agrees.

Where the processor shows its counter, perf reads it from outside; else cachegrind counts inside the sandbox.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import replace

from whet.core.errors import UsageError
from whet.core.task import Kind, Task
from whet.core.verdict import Reason
from whet.evaluators.artifacts import Artifact, Builder
from whet.evaluators.counting import Count, Counted, count, count_events, trial
from whet.evaluators.finding import Fault
from whet.evaluators.inputs.source import Input
from whet.evaluators.meters.base import Setting
from whet.evaluators.meters.time import windows
from whet.evaluators.processes import Pass
from whet.evaluators.timing.statistics import STEADY
from whet.evaluators.timing.turns import Series, Turn, amounts, series
from whet.sandbox.counters import perf, valgrind
from whet.sandbox.counters.process import PROBE
from whet.sandbox.toolchains import native

HARDWARE = "instructions:u"
IDLE = "idle"
APART = 10.0
"""How many times more instructions than time a candidate may seem to save: honest programs differ by less in the
seconds that an instruction takes, but for those that do little else than wait for memory or for the kernel."""
UNSEEN_SECONDS = 0.002
"""What the clock outside cannot tell of a short pass."""
TUNED = ("-march=x86-64-v3",)
"""In place of ``-march=native``: Debian's valgrind knows no AVX-512."""


class Instructions:
    """The meter of ``--metric instructions``."""

    name = "instructions"
    unit = "instructions"
    looks = STEADY
    pass_seconds = 0.008  # counting takes some thirty times as long
    clocked = False
    forks = False
    lengthens = False

    def __init__(self, kind: Kind, count: Count = count) -> None:
        self._count = count
        # What a function's process does beside the calls is counted apart, in the baseline alone: a candidate could
        # make its own share of that look large.
        self.controls = (IDLE,) if kind is Kind.FUNCTION else ()

    def variants(self, task: Task, source: str) -> tuple[tuple[str, ...], ...]:
        """See `Meter.variants`."""
        if set(native.TUNED) & set(task.flags):
            return (TUNED,)
        portable = dict(zip(native.TUNED, TUNED, strict=True))
        return tuple(tuple(portable.get(word, word) for word in variant) for variant in native.variants(task, source))

    def take(
        self, artifact: Artifact, drawn: Mapping[str, Sequence[Input]], warm: Input, setting: Setting
    ) -> Mapping[str, Pass] | Fault:
        """See `Meter.take`: a run that is timed, and one of the same inputs that is counted."""
        setting = replace(setting, cores=setting.cores[:1])  # instructions are as many on one core
        idle = setting.side == IDLE
        passes: dict[str, Pass] = {}
        clocked = {} if idle else windows(artifact, drawn, warm, setting)
        if isinstance(clocked, Fault):
            return clocked
        for name, inputs in drawn.items():
            found = self._count(artifact, [item.payload for item in inputs], setting, calling=not idle)
            if isinstance(found, Fault):
                return found
            passes[name] = _joined(clocked.get(name), found)
        return passes

    def series(self, turns: Sequence[Turn], name: str) -> Series | Fault:
        """See `Meter.series`."""
        seconds = series(turns, name)
        if isinstance(seconds, Fault):
            return seconds
        counts = _beyond_idle(turns, name)
        claimed = statistics.median(a / b for a, b in zip(counts.baseline, counts.candidate, strict=True))
        before, after = statistics.median(seconds.baseline), statistics.median(seconds.candidate)
        if after > APART * before / claimed + UNSEEN_SECONDS:
            return Fault(
                Reason.CHEATING,
                f"{name}: it counts {claimed:.3g}x fewer instructions, and by the clock outside a pass took "
                f"{before * 1e3:.3g} ms before and {after * 1e3:.3g} ms after",
            )
        return counts


def _joined(clocked: Pass | None, counted: Counted) -> Pass:
    if clocked is None:
        return Pass(0.0, 0.0, 0.0, counted.outcomes, amount=counted.instructions)
    return replace(clocked, outcomes=clocked.outcomes + counted.outcomes, amount=counted.instructions)


def _beyond_idle(turns: Sequence[Turn], name: str) -> Series:
    """Returns the counts less what the baseline's process has done, on the same inputs, without any call."""
    whole = amounts(turns, name)
    idle = [turn.passes[name][IDLE].amount or 0.0 if IDLE in turn.passes[name] else 0.0 for turn in turns]
    sides = {"baseline": whole.baseline, "candidate": whole.candidate, "again": whole.again}
    return Series.of(
        {
            side: [max(total - start, 1.0) for total, start in zip(counts, idle, strict=True)]
            for side, counts in sides.items()
        }
    )


def open_count(builder: Builder) -> tuple[str, Count]:
    """Returns what counts instructions on this machine: its name, ``perf`` or ``cachegrind``, and itself.

    Raises:
        UsageError: the processor shows no counter, and valgrind cannot count inside this sandbox.
    """
    if perf.count([PROBE], (HARDWARE,))[0].available:
        return perf.SOURCE, count_events(HARDWARE)
    if reason := trial(builder):
        raise UsageError(f"--metric instructions cannot be measured: {reason}")
    return valgrind.SOURCE, count


def open_instructions(builder: Builder) -> Instructions:
    """Returns the meter.

    Raises:
        UsageError: see `open_count`.
    """
    return Instructions(builder.task.kind, open_count(builder)[1])
