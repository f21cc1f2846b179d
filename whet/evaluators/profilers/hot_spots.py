"""Hot spots of a source text, by the best tool that works here, in a run of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from whet.core.profile import Profile
from whet.evaluators.inputs.source import Input
from whet.evaluators.profilers import callgrind, line_timer, perf, py_spy
from whet.evaluators.subjects import Workshop

Profiler = Callable[[Workshop, str, Sequence[Input]], Profile]

PROFILED = 8
"""Inputs that a profile is taken on."""
PYTHON: tuple[Profiler, ...] = (py_spy.profile, line_timer.profile)
NATIVE: tuple[Profiler, ...] = (perf.profile, callgrind.profile)
"""The best first; one line adds a tool."""


def profile(workshop: Workshop, source: str, inputs: Sequence[Input]) -> Profile:
    """Returns the hot spots of a source text on some inputs.

    Its note says why a better tool did not give them.
    """
    if workshop.task.commands is not None:
        return Profile((), "none", note="a program that is built by its own command is not profiled by line")
    notes: list[str] = []
    found = Profile((), "none")
    for profiler in PYTHON if workshop.task.language == "python" else NATIVE:
        found = profiler(workshop, source, inputs)
        if found.lines:
            break
        notes.append(f"{found.source}: {found.note or 'it met no line of the target'}")
    return replace(found, note="; ".join(notes))
