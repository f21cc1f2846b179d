"""Memory by line of a source text, in a run of its own: being followed slows a program down."""

from __future__ import annotations

from collections.abc import Sequence

from whet.core.profile import Memory
from whet.evaluators.inputs.source import Input
from whet.evaluators.profilers import dhat, traced_memory
from whet.evaluators.subjects import Workshop


def memory(workshop: Workshop, source: str, inputs: Sequence[Input]) -> Memory:
    """Returns the memory of a source text's lines on the first of some inputs."""
    if workshop.task.commands is not None:
        return Memory((), None, "none", "a program that is built by its own command is not followed by line")
    measure = traced_memory.memory if workshop.task.language == "python" else dhat.memory
    return measure(workshop, source, inputs[0])
