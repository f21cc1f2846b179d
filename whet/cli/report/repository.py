"""A run on a whole repository as one HTML page: where the time goes, what was tried, what stands, what it cost."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from jinja2 import Environment
from markupsafe import Markup

from whet.benchmarks.pages.environment import digest, environment, style
from whet.benchmarks.pages.scale import Scale
from whet.benchmarks.pages.texts import Diff, read_diff
from whet.core.about import __version__
from whet.core.measurement import Measurement
from whet.core.repository import Attempt, HotFunction, RepositoryResult
from whet.core.text import count, percent

HERE = Path(__file__).parent
LONGEST_DIFF = 20_000
"""Bytes of HTML of each attempt's diff; further lines are left out, and counted. The page grows by up to as much with
each attempt; a smaller value hides more of long changes."""
HEADLINE = {
    "improved": "Faster, and its tests pass",
    "no_improvement": "No verified improvement",
    "budget_exhausted": "Budget spent without a verified improvement",
    "baseline_invalid": "Not to be judged before any change",
}
ANSWER = {"faster": "faster", "not_shown": "no gain shown", "slower": "slower"}


@dataclass(frozen=True, slots=True)
class ReportedAttempt:
    """One attempt with what a page shows of it."""

    number: int
    attempt: Attempt
    diff: Diff

    @property
    def outcome(self) -> str:
        """What became of it, in two words."""
        return "kept" if self.attempt.kept else "not kept"


def repository_page(result: RepositoryResult) -> str:
    """Returns a run on a repository as one HTML page, be it over or not."""
    look = style()
    told = [
        ReportedAttempt(number, one, read_diff(one.diff, LONGEST_DIFF)) for number, one in enumerate(result.attempts, 1)
    ]
    return (
        _environment()
        .get_template("repository.html")
        .render(
            result=result,
            headline=HEADLINE[result.status.value],
            told=told,
            untried=untried(result),
            saved=saved(result),
            answer=ANSWER,
            scale=_scale(result),
            style=Markup(look),
            style_hash=digest(look),
            version=__version__,
        )
    )


def untried(result: RepositoryResult) -> list[tuple[HotFunction, str]]:
    """Returns the functions that were not tried, each with the reason."""
    tried = {one.function.target for one in result.attempts}
    rest = [one for one in result.functions if one.target not in tried]
    return [(one, one.skipped or "beyond the first ones, or the run ended before") for one in rest]


def saved(result: RepositoryResult) -> str:
    """Returns what a run came to in tests, as a line."""
    if result.tests is None:
        return "There are no tests: comparison with the original alone judged it."
    tests = result.tests
    passed = f"{count(len(tests.passed), 'test')} passed twice before any change and must pass after it"
    return f"{passed}; {len(tests.failing)} failed before, {len(tests.flaky)} did not end alike each time."


def _scale(result: RepositoryResult) -> Scale:
    """Returns the axis on which all intervals are drawn."""
    found: list[Measurement] = [one.end_to_end for one in result.attempts if one.end_to_end is not None]
    found += [result.end_to_end] if result.end_to_end is not None else []
    speedups = [one.speedup for one in found] + [one.speedup for one in result.attempts if one.speedup is not None]
    return Scale.over(value for one in speedups for value in (one.low, one.high))


@cache
def _environment() -> Environment:
    return environment(HERE, {"percent": percent, "share": _share, "seconds": _seconds})


def _share(share: float) -> str:
    return f"{share:.1%}"


def _seconds(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{seconds:.1f} s"
