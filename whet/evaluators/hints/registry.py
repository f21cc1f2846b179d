"""The hints of a candidate, whatever its language."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache

from whet.evaluators.hints import native, python
from whet.evaluators.hints.base import Found, Hint, fresh

FINDERS: dict[str, Callable[[str], Iterator[Found]]] = {
    "python": python.find,
    "c": native.find_c,
    "cpp": native.find_cpp,
}
"""One line adds a language."""


def hints(language: str, source: str, baseline: str) -> tuple[Hint, ...]:
    """Returns what looks like a trick in a candidate and does not stand in the baseline.

    Never raises, whatever the texts hold; a language that nobody reads has no hints.
    """
    find = FINDERS.get(language)
    if find is None or source == baseline:
        return ()
    return fresh(find(source), _known(language, baseline))


@lru_cache(maxsize=4)
def _known(language: str, baseline: str) -> tuple[Found, ...]:
    # Every candidate of a run is held against the same one.
    return tuple(FINDERS[language](baseline))
