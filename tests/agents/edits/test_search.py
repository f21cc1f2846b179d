"""Which edits the catalogue proposes first, and what it makes of what was measured."""

from __future__ import annotations

from dataclasses import replace

import pytest

from whet.agents.catalogue.registry import proposals
from whet.agents.catalogue.search import MANY, candidates, single_edits
from whet.agents.models.base import Attempt, Brief
from whet.core.candidate import content_id
from whet.core.profile import HotLine
from whet.prompts import one_line

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
        text += re.sub("a+", "b", row)
    return out, text, sum(1 for r in rows if rows.count(r) > 1)
"""


def brief(*hot: tuple[int, float], **changes) -> Brief:
    lines = tuple(HotLine(line, share, SOURCE.splitlines()[line - 1]) for line, share in hot)
    return replace(Brief("python", "function", "f", SOURCE, lines), **changes)


def single(edit: str, source: str = SOURCE):
    return next(each for each in proposals(brief(source=source)) if each.edit == edit)


def attempt(edit: str, low: float | None, high: float | None = None, *, correct: bool = True) -> Attempt:
    return Attempt(f"catalogue:{edit}", one_line(single(edit).why), correct, low, high or low)


def names(found) -> list[str]:
    return [each.edit for each in found]


@pytest.mark.parametrize(("line", "edit"), [(8, "list-membership"), (12, "join-strings"), (13, "count-once")])
def test_the_edit_of_the_hottest_line_comes_first(line, edit):
    others = [(other, 0.05) for other in (8, 12, 13) if other != line]
    assert candidates(brief((line, 0.9), *others))[0].edit == edit


def test_an_edit_that_changes_how_time_grows_comes_before_one_that_does_not_at_lines_alike():
    found = names(single_edits(brief((12, 0.5), (13, 0.5))))
    assert found.index("count-once") < found.index("compile-pattern")


def test_lines_that_an_edit_replaces_count_for_it_wherever_it_begins():
    found = names(single_edits(brief((7, 0.5), (8, 0.2), (9, 0.3))))
    assert found.index("loop-to-comprehension") < found.index("join-strings")


def test_all_that_is_worth_it_is_proposed_together_at_once():
    first, joint, *rest = candidates(brief((8, 0.6), (12, 0.2), (13, 0.2)))
    assert "+" not in first.edit
    assert {"list-membership", "count-once"} <= set(joint.edit.split("+"))
    assert not any("+" in each.edit for each in rest)
    assert joint.why.startswith(f"{first.why}; ")
    scope: dict = {}
    exec(joint.source, scope)
    assert scope["f"](["aa", "c", "c"], ["c"]) == (["c", "c"], "bcc", 2)


def test_what_promises_nothing_is_not_made_together_with_the_rest():
    joint = candidates(brief((6, 0.6), (7, 0.4)))[1]
    assert "count-once" not in joint.edit


def test_few_are_made_together():
    source = "\n".join(
        ["def f(rows):", *(f"    t{i} = ''\n    for r in rows:\n        t{i} += r" for i in range(12)), "    return t1"]
    )
    found = candidates(brief(source=source))
    assert len(found) == 13
    assert found[1].source.count("join(") == MANY


def test_what_was_measured_faster_is_made_together_on_the_winner_first():
    winner = single("count-once").source
    attempts = (
        attempt("count-once", 4.0),
        attempt("list-membership", 1.2, 1.3),
        attempt("join-strings", 1.1, 1.2),
        attempt("compile-pattern", 0.98, 1.02),
    )
    found = candidates(brief(source=winner, attempts=attempts))
    assert found[0].edit == "list-membership+join-strings"
    assert found[1].edit == "list-membership"
    assert "count-once" not in names(found)


@pytest.mark.parametrize(
    "failed", [{"low": None, "correct": False}, {"low": 0.7, "high": 0.9}], ids=["wrong", "slower"]
)
def test_what_failed_is_not_proposed_again_on_the_child(failed):
    child = single("count-once").source
    assert "list-membership" in names(single_edits(brief(source=child)))
    known = brief(source=child, attempts=(attempt("list-membership", **failed),))
    assert "list-membership" not in "".join(names(candidates(known)))


def test_what_brought_nothing_waits_for_what_is_new():
    tried = attempt("list-membership", 0.98, 1.02)
    for attempts, last in (((), False), ((tried, tried), True)):
        found = names(single_edits(brief((8, 0.4), (13, 0.3), attempts=attempts)))
        assert (found[0] == "list-membership") != last


def test_another_place_of_a_failed_edit_is_still_proposed():
    source = "def f(a):\n    s = ''\n    for x in a:\n        s += x\n    return g(a) + s\n\n\n"
    source += "def g(a):\n    s = ''\n    for x in a:\n        s += x\n    return s\n"
    first, second = proposals(brief(source=source))
    assert first.why == second.why
    failed = Attempt("catalogue:join-strings", one_line(first.why), False)
    left = candidates(brief(source=source, tried=(content_id(first.source),), attempts=(failed,)))
    assert second in left
    assert single_edits(brief(source=source, attempts=(failed, failed))) == []


def test_what_was_wrong_together_is_tried_alone_before_it_is_joined_again():
    everything = (Attempt("catalogue:list-membership+count-once", "several", False),)
    found = candidates(brief(attempts=everything))
    joint = next(each for each in found if "+" in each.edit)
    assert {"list-membership", "count-once"}.isdisjoint(joint.edit.split("+"))
    assert {"list-membership", "count-once"} <= set(names(found))
    right = (*everything, attempt("count-once", 0.98, 1.02))
    joint = next(each for each in candidates(brief(attempts=right)) if "+" in each.edit)
    assert "count-once" in joint.edit
    explained = (*everything, attempt("count-once", None, correct=False))
    joint = next(each for each in candidates(brief(attempts=explained)) if "+" in each.edit)
    assert "list-membership" in joint.edit
    assert "count-once" not in joint.edit


def test_attempts_of_others_are_nobodys_edits():
    other = Attempt("openai:some", one_line(single("count-once").why), False)
    assert candidates(brief(attempts=(other,))) == candidates(brief())


COPIED = """\
#include <iostream>
#include <string>
#include <vector>
bool lit(std::vector<std::string> rows, int r) {
    return rows[r][0] == '#';
}
int main() {
    std::vector<std::string> rows(9, "#");
    int sum = 0;
    for (int r = 0; r < 9; r++) {
        sum += lit(rows, r);
    }
    std::cout << sum << std::endl;
}
"""


def test_copies_for_a_call_are_paid_where_it_stands():
    paid = HotLine(11, 0.9, COPIED.split("\n")[10])
    assert candidates(Brief("cpp", "program", None, COPIED, hot=(paid,)))[0].edit == "const-reference"
