"""The hints of a candidate, whatever its language."""

from __future__ import annotations

from functools import lru_cache

from whet.evaluators.hints.base import Hint, HintMatch, fresh
from whet.evaluators.languages import registry


def hints(language: str, source: str, baseline: str) -> tuple[Hint, ...]:
    """Returns what looks like a trick in a candidate and does not stand in the baseline.

    Never raises, whatever the texts hold; a language that nobody reads has no hints.
    """
    known = registry.language(language)
    if known is None or known.hints is None or source == baseline:
        return ()
    return fresh(known.hints(source), _known(language, baseline))


@lru_cache(maxsize=4)
def _known(language: str, baseline: str) -> tuple[HintMatch, ...]:
    # Every candidate of a run is held against the same one.
    known = registry.known(language)
    return tuple(known.hints(baseline)) if known.hints is not None else ()
