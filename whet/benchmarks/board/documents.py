"""The leaderboard as JSON: the contract that pages are drawn from and that others may read. See docs/leaderboard.md."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from whet import __version__
from whet.benchmarks.board.answers import JudgedRow, Mark
from whet.benchmarks.board.entries import Entry, Leaderboard, ProblemKey, ProblemResult, slug
from whet.benchmarks.board.pairs import EntryComparison
from whet.benchmarks.suites.base import Figure
from whet.core.plain import to_plain

BOARD, SUITE, PROBLEM = "whet.board/1", "whet.board.suite/1", "whet.board.problem/1"


def board_document(standings: tuple[Leaderboard, ...], faults: tuple[str, ...]) -> dict[str, Any]:
    """Returns what suites there are, and where their pages and documents lie."""
    return {
        "schema": BOARD,
        "whet": __version__,
        "newest": max(answer.row.when for one in standings for entry in one.entries for answer in entry.answers),
        "faults": list(faults),
        "suites": [
            {
                "name": one.suite.name,
                "title": one.suite.title,
                "status": one.suite.status,
                "page": f"{one.slug}/index.html",
                "data": f"{one.slug}/data.json",
                "entries": len(one.entries),
                "problems": len(one.problems),
            }
            for one in standings
        ],
    }


def suite_document(standing: Leaderboard, found: list[EntryComparison]) -> dict[str, Any]:
    """Returns all entries of a suite with what they came to on each problem, and each pair of them."""
    at = {problem: number for number, problem in enumerate(standing.problems)}
    return {
        "schema": SUITE,
        "suite": standing.suite.name,
        "title": standing.suite.title,
        "status": standing.suite.status,
        "speedups": standing.speedups,
        "cautions": list(standing.cautions),
        "problems": [
            {
                "id": problem[0],
                "revision": problem[1],
                "page": f"{page_name(problem)}.html",
                "data": f"{page_name(problem)}.json",
            }
            for problem in standing.problems
        ],
        "entries": [_entry(entry, at) for entry in standing.entries],
        "pairs": [_pair(pair) for pair in found],
    }


def problem_document(standing: Leaderboard, problem: ProblemKey) -> dict[str, Any]:
    """Returns all answers to a problem."""
    return {
        "schema": PROBLEM,
        "suite": standing.suite.name,
        "id": problem[0],
        "revision": problem[1],
        "answers": [
            _answer(entry, answer) for entry in standing.entries for answer in _answers(entry.outcomes.get(problem))
        ],
    }


def page_name(problem: ProblemKey) -> str:
    """Returns the name of a problem's page, without its ending; revisions of one problem have pages of their own."""
    return slug(*problem)


def _answers(outcome: ProblemResult | None) -> tuple[JudgedRow, ...]:
    return outcome.answers if outcome is not None else ()


def _entry(entry: Entry, at: Mapping[ProblemKey, int]) -> dict[str, Any]:
    return {
        "number": entry.number,
        "rank": entry.rank,
        "model": entry.model,
        "strategy": entry.strategy,
        "budget": entry.budget,
        "machine": entry.machine,
        "systems": list(entry.systems),
        "score": {
            "figures": [_figure(figure) for figure in entry.score.figures],
            "spread": [number(value) for value in entry.score.spread],
            "failed": entry.score.failed,
            "excluded": dict(entry.score.excluded),
        },
        "cost": to_plain(entry.cost),
        "seconds": round(entry.seconds, 3),
        "evidence": {mark.value: entry.marks.get(mark, 0) for mark in Mark},
        "cheats": entry.cheats,
        "disputed": entry.disputed,
        "outcomes": [
            {
                "problem": at[problem],
                "samples": len(outcome.answers),
                "right": outcome.right,
                "excluded": outcome.excluded,
                "speedup": number(outcome.speedup),
            }
            for problem, outcome in sorted(entry.outcomes.items(), key=lambda one: at[one[0]])
        ],
    }


def _figure(figure: Figure) -> dict[str, Any]:
    plain = {**to_plain(figure)}
    return plain | {name: number(plain[name]) for name in ("value", "low", "high")}


def _pair(pair: EntryComparison) -> dict[str, Any]:
    return {
        "a": pair.a.number,
        "b": pair.b.number,
        "common": len(pair.common),
        "caution": pair.caution,
        "scores": [_figure(figure) for figure in pair.figures] if pair.figures else None,
        "both": pair.both,
        "only_a": pair.only_a,
        "only_b": pair.only_b,
        "ratio": number(pair.ratio),
        "low": number(pair.low),
        "high": number(pair.high),
        "timed": pair.timed,
    }


def _answer(entry: Entry, answer: JudgedRow) -> dict[str, Any]:
    row = answer.row
    return {
        "entry": entry.number,
        "sample": row.sample,
        "kind": answer.kind.value,
        "disputed": answer.disputed,
        "speedups": {"own": number(answer.own_speedup), "whet": number(answer.whet_speedup)},
        "evidence": {"mark": answer.mark.value, "sha256": row.evidence},
        "own": to_plain(row.own) if row.own is not None else None,
        "told": answer.told.model_dump(mode="json") if answer.told is not None else None,
        "answer": row.answer,
        "language": row.language,
        "excluded": row.excluded,
        "when": row.when,
    }


def number(value: float | None) -> float | None:
    """Returns a number as JSON can hold it, with as many digits as mean something; None for one that is none."""
    return None if value is None or not math.isfinite(value) else float(f"{value:.6g}")
