"""The catalogue in the loop: how many evaluations it takes to the best, and that nothing which failed comes again."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from work import Work

from whet.core.profile import HotLine
from whet.core.result import Status
from whet.core.store import Store
from whet.core.verdict import Reason
from whet.testing.tabled import Row

SOURCE = """\
import re


def f(rows, allowed):
    allowed = list(allowed)
    out = []
    for row in rows:
        if row in allowed:
            out.append(row)
    text = ""
    for row in rows:
        text += row.upper()
    words = []
    for row in rows:
        words.append(re.sub("a+", "b", row))
    return out, text, words, sum(1 for r in rows if rows.count(r) > 1)
"""
SIGNS = {
    "list-membership": r"allowed_set|set\(allowed",
    "join-strings": r"join\(",
    "count-once": r"Counter\(",
    "compile-pattern": r"compile\(",
}
LINES = {
    "list-membership": "if row in allowed",
    "join-strings": "text +=",
    "count-once": "rows.count",
    "compile-pattern": "re.sub",
}


class Costs(dict[str, Row]):
    """A table of what every text costs: each edit takes its cost away, and those that are wrong break the text."""

    def __init__(self, costs: dict[str, float], wrong: tuple[str, ...] = ()) -> None:
        super().__init__()
        self.costs, self.wrong = costs, wrong

    def get(self, source: str, default: Row | None = None) -> Row:
        made = {edit for edit, sign in SIGNS.items() if re.search(sign, source)}
        left = {edit: cost for edit, cost in self.costs.items() if edit not in made}
        total = 0.02 + sum(left.values())
        hot = [
            HotLine(number, left[edit] / total, line)
            for number, line in enumerate(source.split("\n"), 1)
            for edit, text in LINES.items()
            if text in line and edit in left
        ]
        reason = Reason.WRONG_OUTPUT if made & set(self.wrong) else None
        whole = 0.02 + sum(self.costs.values())
        return Row(whole / total, reason, hot=tuple(sorted(hot, key=lambda line: -line.share)))


@pytest.fixture
def work(tmp_path):
    made = Work(tmp_path)
    made.path.write_text(SOURCE)
    made.task = replace(made.task, source=SOURCE)
    return made


COSTS = {"list-membership": 0.5, "join-strings": 0.05, "count-once": 0.3, "compile-pattern": 0.1}


def origins(work: Work) -> list[str]:
    """Returns the edits of all that was checked, in order."""
    store = Store(work.home)
    run = store.runs()[0].id
    ids = [line.split()[1] for line in work.journal_lines() if line.startswith("check")]
    found = [store.fact(run, f"candidate:{id}")["origin"].removeprefix("catalogue:") for id in ids]
    store.close()
    return found


def test_what_is_right_is_found_in_the_first_round(work):
    result = work.optimize("catalogue", Costs(COSTS), candidates=4)
    assert result.status is Status.IMPROVED
    assert result.speedup.ratio == pytest.approx(0.97 / 0.02)
    first, second, *rest = origins(work)
    assert first == "list-membership"
    assert set(second.split("+")) >= {"list-membership", "count-once", "compile-pattern", "join-strings"}
    assert len(rest) <= 5


@pytest.mark.parametrize("wrong", list(COSTS))
def test_a_wrong_edit_costs_two_evaluations_and_the_others_are_put_together(work, wrong):
    result = work.optimize("catalogue", Costs(COSTS, (wrong,)), candidates=4)
    assert result.status is Status.IMPROVED
    assert result.speedup.ratio == pytest.approx(0.97 / (0.02 + COSTS[wrong]))
    tried = [name for name in origins(work) if wrong in name.split("+")]
    assert len(tried) <= 2, origins(work)
    assert len(origins(work)) <= 16, origins(work)


@pytest.mark.corpus(one_in=8)
def test_with_one_candidate_a_round_the_winner_grows_edit_by_edit(work):
    result = work.optimize("catalogue", Costs(COSTS, ("join-strings",)), candidates=1)
    assert result.speedup.ratio == pytest.approx(0.97 / 0.07)
    assert origins(work)[:2] == ["list-membership", "count-once"]
