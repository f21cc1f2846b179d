"""Memory by line of a source text, in a run of its own: being followed slows a program down."""

from __future__ import annotations

from collections.abc import Sequence

from whet.core.profile import Memory
from whet.evaluators.artifacts import Builder
from whet.evaluators.inputs.source import Input
from whet.evaluators.languages.registry import language_of_task


def memory(builder: Builder, source: str, inputs: Sequence[Input]) -> Memory:
    """Returns the memory of a source text's lines on the first of some inputs."""
    language = language_of_task(builder.task)
    if language.memory is None:
        return Memory((), None, "none", f"{language.plural} are not followed by line")
    return language.memory(builder, source, inputs[0])
