"""Hot spots of a source text, by the best tool that works here, in a run of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from whet.core.profile import Profile
from whet.evaluators.artifacts import Builder
from whet.evaluators.inputs.source import Input
from whet.evaluators.languages.registry import language_of_task

PROFILED = 8
"""Inputs that a profile is taken on."""


def profile(builder: Builder, source: str, inputs: Sequence[Input]) -> Profile:
    """Returns the hot spots of a source text on some inputs.

    Its note says why a better tool did not give them.
    """
    notes: list[str] = []
    found = Profile((), "none")
    language = language_of_task(builder.task)
    if not language.profilers:
        return Profile((), "none", note=f"{language.plural} are not profiled by line")
    for profiler in language.profilers:
        found = profiler(builder, source, inputs)
        if found.lines:
            break
        notes.append(f"{found.source}: {found.note or 'it met no line of the target'}")
    return replace(found, note="; ".join(notes))
