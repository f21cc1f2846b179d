"""Which attributes of an object, and which values outside of objects, a candidate has to keep as the original does.

Whatever the original has is compared by its name, private or not: other methods, subclasses and recorded objects read
it. A private attribute that only the candidate has is nobody else's business, as long as later calls answer
right; a public one shows. A cache holds what could be computed anew, so that its contents are not part of what a
method does.
"""

from __future__ import annotations

import re
from collections.abc import Container

from whet.evaluators.inputs.plain_data import read, write
from whet.evaluators.outcomes import CallOutcome, decode_call
from whet.sandbox.inside.codec import CodecError
from whet.sandbox.inside.decode import Node

CACHE = re.compile("cache|memo", re.IGNORECASE)


def is_cache(name: str) -> bool:
    """Whether a value is a cache, by its name."""
    return CACHE.search(name) is not None


def comparable(
    expected: bytes, ours: CallOutcome, actual: bytes, theirs: CallOutcome
) -> tuple[CallOutcome, CallOutcome]:
    """Returns two outcomes, their objects without attributes that need not be alike.

    Args:
        expected: the original's, as `whet.sandbox.inside.invocation.stored` writes it.
        ours: the same, decoded.
        actual: the candidate's; hostile.
        theirs: the same, decoded.
    """
    names, others = _private(ours), _private(theirs)
    caches = {name for name in names | others if is_cache(name)}
    return _without(expected, ours, names & caches), _without(actual, theirs, (others - names) | (others & caches))


def _private(outcome: CallOutcome) -> set[str]:
    instance = outcome.instance
    if not isinstance(instance, Node) or instance.kind != "object":
        return set()
    return {name for name, _ in instance.state if name.startswith("_")}


def _without(data: bytes, outcome: CallOutcome, names: Container[str]) -> CallOutcome:
    """Returns an outcome whose object lacks some attributes; references are numbered as if it never had them."""
    if not names:
        return outcome
    try:
        linked = read(data)
        instance = CallOutcome.of(linked).instance
        instance.state = tuple(field for field in instance.state if field[0] not in names)
        return decode_call(write(linked))
    except (CodecError, RecursionError):  # arrays that share memory, or too deep to be walked through
        return outcome
