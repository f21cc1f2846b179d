"""Which attributes of an object, and which values outside of objects, a candidate has to keep as the original does.

Whatever the original has is compared by its name, private or not: other methods, subclasses and recorded objects read
it. A private attribute that only the candidate has is nobody else's business, as long as later calls answer
right; a public one shows. A cache holds what could be computed anew, so that its contents are not part of what a
method does.
"""

from __future__ import annotations

import re
from collections.abc import Container
from typing import Any

from whet.evaluators.inputs.plain_data import read, write
from whet.sandbox.inside.codec import CodecError
from whet.sandbox.inside.decode import Node, decode

CACHE = re.compile("cache|memo", re.IGNORECASE)
INSTANCE = 2
"""Place of the object in an outcome."""


def is_cache(name: str) -> bool:
    """Whether a value is a cache, by its name."""
    return CACHE.search(name) is not None


Plain = tuple[Any, ...]


def comparable(expected: bytes, ours: Plain, actual: bytes, theirs: Plain) -> tuple[Plain, Plain]:
    """Returns two outcomes as plain data, their objects without attributes that need not be alike.

    Args:
        expected: the original's, as `whet.sandbox.inside.calls.stored` writes it.
        ours: the same as plain data.
        actual: the candidate's; hostile.
        theirs: the same as plain data.
    """
    names, others = _private(ours), _private(theirs)
    caches = {name for name in names | others if is_cache(name)}
    return _without(expected, ours, names & caches), _without(actual, theirs, (others - names) | (others & caches))


def _private(outcome: Plain) -> set[str]:
    instance = outcome[INSTANCE]
    if not isinstance(instance, Node) or instance.kind != "object":
        return set()
    return {name for name, _ in instance.state if name.startswith("_")}


def _without(data: bytes, outcome: Plain, names: Container[str]) -> Plain:
    """Returns an outcome whose object lacks some attributes; references are numbered as if it never had them."""
    if not names:
        return outcome
    try:
        linked = read(data)
        instance = linked[INSTANCE]
        instance.state = tuple(field for field in instance.state if field[0] not in names)
        rest: Plain = decode(write(linked))
    except (CodecError, RecursionError):  # arrays that share memory, or too deep to be walked through
        return outcome
    return rest
