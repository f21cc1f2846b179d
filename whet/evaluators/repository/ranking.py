"""The functions of a repository by the time that may be saved in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from whet.core.errors import UsageError
from whet.core.repository import HotFunction, ProjectKind, Survey
from whet.evaluators.repository.definitions import Definitions
from whet.evaluators.repository.native_profiling import native_shares
from whet.evaluators.repository.profiling import Spot, Times, python_times
from whet.evaluators.repository.skipped import skipped_file, skipped_function
from whet.sandbox.interpreter import Interpreter
from whet.sandbox.protocol import Sandbox

LISTED = 0.001
"""Of the time: what takes less is not told at all."""
MIN_SHARE = 0.01
"""Share of the command's time, 0 to 1, that a function takes itself at least to be tried, where no other is stated:
even if it took no time at all, the command would save no more. A smaller share tries more functions, each in a
search of its own."""
IN_C, NO_EDIT = 0.4, 0.5
"""Headroom that is left to time in long calls into C, and what is left of it where no known edit applies."""
TARGETS = (".c", ".cc", ".cpp", ".cxx")
LOOKED_AT = 20
"""Functions for which known edits are looked for."""

Applicable = Callable[[str, str, int, int], tuple[str, ...]]
"""From a file's text, a function's symbol, and its first and last line to the names of known edits that change it."""


def hot_functions(
    survey: Survey,
    command: str,
    sandbox: Sandbox,
    interpreter: Interpreter,
    min_share: float = MIN_SHARE,
    applicable: Applicable | None = None,
) -> tuple[HotFunction, ...]:
    """Runs a command once under a profiler and ranks the repository's functions.

    In C and C++ whole source files stand for their functions.

    Args:
        survey: of the repository.
        command: whose time counts.
        sandbox: to run it in.
        interpreter: of the project's environment.
        min_share: of the command's time: what takes less is not tried.
        applicable: what the catalogue has for a function, where that is to count.

    Returns:
        those to be tried, by the share of time that may be saved; then those that are skipped, by their share.

    Raises:
        BaselineError: the command fails, or is over too soon.
        UsageError: the repository cannot be copied, or is of no kind that is known.
    """
    if survey.kind is ProjectKind.UNKNOWN:
        raise UsageError(f"{survey.root} is neither a Python project nor one that CMake or make builds")
    if survey.kind is ProjectKind.PYTHON:
        found = list(_python(survey, python_times(survey, command, sandbox, interpreter)))
    else:
        found = [_native(survey, path, share) for path, share in native_shares(survey, command, sandbox, interpreter)]
    found = [_too_little(each, min_share) for each in found if each.total >= LISTED]
    tried = sorted((each for each in found if not each.skipped), key=_order)
    if applicable is not None:
        tried = (
            sorted((_with_edits(survey, each, applicable) for each in tried[:LOOKED_AT]), key=_order)
            + tried[LOOKED_AT:]
        )
    skipped = sorted((each for each in found if each.skipped), key=lambda each: (-each.own, each.target))
    return (*tried, *skipped)


def _order(function: HotFunction) -> tuple[float, str]:
    return -function.saving, function.target


def _python(survey: Survey, times: Times) -> Iterator[HotFunction]:
    texts: dict[str, str] = {}
    for spot in times.total:
        if spot.path not in texts:
            texts[spot.path] = (survey.root / spot.path).read_text(encoding="utf-8", errors="replace")
        own = times.own.get(spot, 0.0)
        away = times.away.get(spot, 0.0) / own if own else 0.0
        yield HotFunction(
            *(spot.path, spot.symbol, spot.line, spot.end, "python"),
            own=own / times.whole,
            total=times.total[spot] / times.whole,
            calls=0,
            headroom=1.0 - away * (1.0 - IN_C),
            skipped=_why_not(spot, texts[spot.path], survey.ignore),
        )


def _why_not(spot: Spot, text: str, ignore: Sequence[str]) -> str:
    if reason := skipped_file(spot.path, text, ignore) or spot.why_not:
        return reason
    definition = Definitions.of(text).around(spot.line)
    return skipped_function(definition) if definition is not None else "its file does not parse"


def _native(survey: Survey, path: str, share: float) -> HotFunction:
    text = (survey.root / path).read_text(encoding="utf-8", errors="replace")
    language = "c" if path.endswith(".c") else "cpp"
    header = "" if path.endswith(TARGETS) else "a header: what it holds is built into many files"
    link = "" if (survey.root / path).resolve() == survey.root.resolve() / path else "a link"
    skipped = skipped_file(path, text, survey.ignore) or header or link
    return HotFunction(path, None, 1, len(text.splitlines()), language, share, share, 0, 1.0, skipped)


def _too_little(function: HotFunction, min_share: float) -> HotFunction:
    if function.skipped or function.own >= min_share:
        return function
    return replace(function, skipped=f"takes {function.own:.1%} of the time itself, less than {min_share:.1%}")


def _with_edits(survey: Survey, function: HotFunction, applicable: Applicable) -> HotFunction:
    if function.symbol is None:
        return function
    text = (survey.root / function.path).read_text(encoding="utf-8", errors="replace")
    edits = applicable(text, function.symbol, function.line, function.end)
    return replace(function, edits=edits, headroom=function.headroom * (1.0 if edits else NO_EDIT))
