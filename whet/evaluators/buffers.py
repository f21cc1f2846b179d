"""Inputs as they are handed over to be timed: the buffers of native functions are written as they lie in memory.

A process that takes a list of numbers in makes each of them an object first. That is a part of every window, and the
more of it there is, the longer windows have to be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from whet.core.signature import Signature
from whet.core.task import Task
from whet.evaluators.artifacts import on_the_cpu
from whet.evaluators.inputs.source import Input
from whet.sandbox.inside.codec import CodecError, Elements, encode
from whet.sandbox.inside.decode import decode
from whet.sandbox.inside.native_target import DTYPES, element_bytes

LEAST_BYTES = 4096
"""Of an input that is written anew: of a smaller one that takes as long as it saves."""


def as_in_memory(task: Task, items: Sequence[Input]) -> Sequence[Input]:
    """Returns inputs that a native function takes as the same arguments, and its process takes in sooner.

    Those of all else are returned as they are.
    """
    if task.signature is None or not on_the_cpu(task):
        return items
    return [replace(item, payload=_packed(task.signature, item.payload)) for item in items]


def _packed(signature: Signature, payload: bytes) -> bytes:
    """Returns an input anew; as it is where it is short, or no call, of which the function's process says so."""
    if len(payload) < LEAST_BYTES:
        return payload
    try:
        values = decode(payload)
        if not isinstance(values, tuple) or len(values) != len(signature.given):
            return payload
        pairs = list(zip(signature.given, values, strict=True))
        if not all(one.buffer or isinstance(value, int | float) for one, value in pairs):
            return payload
        return encode(
            tuple(
                Elements(DTYPES[one.type], element_bytes(value, one.type, one.name)) if one.buffer else value
                for one, value in pairs
            )
        )
    except CodecError:
        return payload
