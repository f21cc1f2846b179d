"""The pages of a leaderboard. Each is one file that needs nothing else: no request, no font, no library."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment
from markupsafe import Markup

from whet import __version__
from whet.benchmarks.board import charts
from whet.benchmarks.board.answers import AnswerKind, JudgedRow, Mark
from whet.benchmarks.board.documents import page_name
from whet.benchmarks.board.entries import Entry, Leaderboard, ProblemKey
from whet.benchmarks.board.pairs import EntryComparison
from whet.benchmarks.pages.environment import digest, environment, style
from whet.benchmarks.pages.scale import Scale
from whet.benchmarks.pages.texts import Diff, cut, read_diff
from whet.benchmarks.suites.base import Figure
from whet.core.text import percent

HERE = Path(__file__).parent
ROOM, LONGEST_DIFF = 400_000, 20_000
"""Bytes of a problem's page for all diffs or texts together, and for one of them."""
LONGEST_WORDS = 80
"""Bytes of a name that a script puts into a page."""
HUES = 6
"""Colours of curves; what has the same colour has another dash."""


@dataclass(frozen=True, slots=True)
class Shown:
    """One answer as its problem's page shows it: by whom, and the diff, or the text where there is no diff."""

    entry: Entry
    answer: JudgedRow
    diff: Diff | None
    room: int


def index_page(standings: tuple[Leaderboard, ...], faults: tuple[str, ...]) -> str:
    """Returns the page with the table of each suite."""
    return _page("index.html", ("sort.js",), standings=standings, faults=faults)


def suite_page(standing: Leaderboard) -> str:
    """Returns a suite's page: its table, its drawings, all its figures, its problems."""
    return _page(
        "suite.html",
        ("sort.js",),
        standing=standing,
        curves=charts.fast_p(standing) if standing.speedups else None,
        spreads=charts.spreads(standing) if standing.speedups else None,
        costs=charts.score_against_cost(standing),
        at=charts.AT,
        problems=[_problem_line(standing, problem) for problem in standing.problems],
    )


def compare_page(standing: Leaderboard, found: list[EntryComparison], document: dict[str, Any]) -> str:
    """Returns the page on which two entries stand side by side; its data stand in it, for files have no requests."""
    kept = {
        "problems": [{"id": one["id"], "page": one["page"]} for one in document["problems"]],
        "entries": [{"number": one["number"], "outcomes": one["outcomes"]} for one in document["entries"]],
        "pairs": document["pairs"],
    }
    return _page("compare.html", ("sort.js", "compare.js"), standing=standing, pairs=found, data=_embedded(kept))


def problem_page(standing: Leaderboard, problem: ProblemKey) -> str:
    """Returns a problem's page: all answers to it, and what became of them."""
    found = [
        (entry, answer)
        for entry in standing.entries
        if problem in entry.outcomes
        for answer in entry.outcomes[problem].answers
    ]
    room = min(LONGEST_DIFF, ROOM // len(found))
    shown = [Shown(entry, answer, _diff(answer, room), room) for entry, answer in found]
    speeds = [one.answer.told.speedup for one in shown if one.answer.told and one.answer.told.speedup]
    at = standing.problems.index(problem)
    return _page(
        "problem.html",
        (),
        standing=standing,
        place=problem,
        shown=shown,
        kinds=KINDS,
        scale=Scale.over(value for speed in speeds for value in (speed.low, speed.high)),
        before=standing.problems[at - 1] if at else None,
        after=standing.problems[at + 1] if at + 1 < len(standing.problems) else None,
    )


KINDS = (
    (AnswerKind.RIGHT, "right", "Right answers", "Right by the suite's own rule; whet's verdict stands beside it."),
    (AnswerKind.FAILED, "failed", "Honest failures", "Wrong, broken, too slow for the suite, or no answer at all."),
    (
        AnswerKind.CHEAT,
        "cheats",
        "Rejected as cheating",
        "What would have made the figure untrue: kept state, a touched clock or harness, a way out of the sandbox.",
    ),
    (AnswerKind.EXCLUDED, "excluded", "Not counted on this machine", "The problem itself could not be used there."),
)


def _problem_line(standing: Leaderboard, problem: ProblemKey) -> dict[str, Any]:
    met = [(entry, entry.outcomes[problem]) for entry in standing.entries if problem in entry.outcomes]
    best = max(
        ((one.speedup, entry) for entry, one in met if one.speedup is not None), key=lambda pair: pair[0], default=None
    )
    return {
        "place": problem,
        "page": f"{page_name(problem)}.html",
        "entries": len(met),
        "solved": sum(one.right > 0 for _, one in met),
        "best": best,
        "cheats": sum(answer.kind is AnswerKind.CHEAT for _, one in met for answer in one.answers),
        "excluded": sum(one.excluded for _, one in met),
    }


def _diff(answer: JudgedRow, room: int) -> Diff | None:
    told = answer.told
    if told is None or told.candidate is None or not told.candidate.diff:
        return None
    return read_diff(told.candidate.diff, room)


def _page(template: str, scripts: tuple[str, ...], **told: Any) -> str:
    look = style() + (HERE / "board.css").read_text(encoding="utf-8")
    texts = [(HERE / name).read_text(encoding="utf-8") for name in scripts]
    return (
        _environment()
        .get_template(template)
        .render(
            style=Markup(look),
            style_hash=digest(look),
            scripts=[Markup(text) for text in texts],
            script_hashes=[digest(text) for text in texts],
            version=__version__,
            **told,
        )
    )


@cache
def _environment() -> Environment:
    made = environment(
        HERE,
        {
            "amount": _amount,
            "figure": _figure,
            "hue": _hue,
            "plain": _plain,
            "percent": percent,
            "share": _share,
            "usd": _usd,
        },
    )
    made.globals |= {"Mark": Mark, "page_name": page_name, "SIDE": charts.SIDE}
    return made


def _embedded(data: Any) -> Markup:
    """Returns data as a block of JSON that no text in it can end, each text as a page would put it out."""
    text = json.dumps(_visible(data), allow_nan=False, separators=(",", ":"))
    return Markup(text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e"))


def _visible(data: Any) -> Any:
    if isinstance(data, str):
        return cut(data, LONGEST_WORDS)
    if isinstance(data, dict):
        return {name: _visible(value) for name, value in data.items()}
    return [_visible(value) for value in data] if isinstance(data, list) else data


def _figure(figure: Figure) -> str:
    if math.isnan(figure.value):
        return "none"
    return f"{figure.value:.4g}{_unit(figure)}"


def _unit(figure: Figure) -> str:
    unit = {"x": "×"}.get(figure.unit, cut(figure.unit, 12))
    return unit if unit in ("", "×") else f" {unit}"


def _share(share: float) -> str:
    return f"{100 * share:.1f} %"


def _usd(usd: float) -> str:
    return f"{usd:.3g}" if usd < 1000 else f"{usd:,.0f}"


def _amount(number: float) -> str:
    """Returns a large number in as many places as a table has: 12.3 k, 4.56 M."""
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if number >= size:
            return f"{number / size:.3g} {unit}"
    return f"{number:g}"


def _plain(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _hue(number: int) -> str:
    """Returns the classes by which an entry's curve is told from others."""
    return f"hue{(number - 1) % HUES} dash{(number - 1) // HUES % 3}"
