"""What is told of a run on a repository: lines, a page, Markdown. No text of a stranger is more than text in them."""

from __future__ import annotations

from html.parser import HTMLParser

import markdown
import pytest

from whet.cli.report.repository import repository_page
from whet.cli.report.repository_markdown import code, fenced, plain, repository_markdown
from whet.cli.repository import repository_lines, revision_lines, show_repository
from whet.core.errors import BaselineError
from whet.core.measurement import Measurement, Outcome, Speedup
from whet.core.plain import from_plain, to_plain
from whet.core.repository import Attempt, HotFunction, RepositoryResult, SuiteOutcome
from whet.core.result import Cost, Status
from whet.core.revision import FunctionAnswer, RevisionAnswer, RevisionResult

HOSTILE = "<script>alert(1)</script>`x`|[y](javascript:z)\u202e\x1b[31m"
SPEEDUP = Speedup(3.0, 2.5, 3.5, 0.99, "time", 20, 20, (0.99, 1.01), "the commit before it", ())
WHOLE = Measurement(Outcome.FASTER, SPEEDUP, 0.0001, note="3.00x, p = 0.0001")


def result_of(word="f", status=Status.IMPROVED):
    hot = HotFunction("pkg/a.py", word, 1, 9, "python", 0.6, 0.7, 10, 1.0)
    other = HotFunction("pkg/b.py", "g", 1, 9, "python", 0.1, 0.1, 0, 0.4)
    skipped = HotFunction("pkg/c.py", "h", 1, 9, "python", 0.05, 0.1, 0, 0.4, skipped=f"generated: {word}")
    kept = Attempt(
        hot, "child-1", "improved", SPEEDUP, True, f"why {word}", (word,), f"--- a\n+++ b\n@@ -1 +1 @@\n-{word}\n+1\n",
        WHOLE, "c" * 40,
    )  # fmt: skip
    failed = Attempt(other, None, "unusable", why=f"no inputs {word}")
    return RepositoryResult(
        run="20260101-000000-abcdef",
        root=f"/somewhere/{word}",
        head="a" * 40,
        branch="whet/20260101-000000-abcdef",
        command=f"python {word}",
        status=status,
        end_to_end=WHOLE,
        tests=SuiteOutcome("pytest", ("t::a",), (f"t::{word}",)),
        functions=(hot, other, skipped),
        attempts=(kept, failed),
        cost=Cost(),
        seconds=61.0,
        message=f"1 function faster {word}",
        notes=(f"left out: {word}",),
    )


class Elements(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.found, self.words = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append(tag)

    def handle_data(self, data):
        self.words.append(data)


def test_the_page_tells_shares_ratios_reasons_and_cost():
    text = " ".join(" ".join(Elements(repository_page(result_of())).words).split())
    for word in (
        "60.0%",
        "pkg/a.py::f",
        "2.50",
        "3.50",
        "kept",
        "not kept",
        "no inputs f",
        "generated: f",
        "1 min 1 s",
    ):
        assert word in text, word


def test_no_text_of_a_stranger_leaves_its_place_on_the_page():
    page = repository_page(result_of(HOSTILE))
    assert Elements(page).found == Elements(repository_page(result_of())).found
    assert "\u202e" not in page
    assert "\x1b" not in page


def test_no_text_of_a_stranger_is_markdown():
    text = repository_markdown(result_of(HOSTILE))
    shown, plainly = (
        Elements(markdown.markdown(one, extensions=["tables", "fenced_code"])).found
        for one in (text, repository_markdown(result_of()))
    )
    assert shown == plainly
    assert "\u202e" not in text
    assert repository_markdown(result_of()).count("\n|") == text.count("\n|")
    assert plain("a|b<c>`d`\n# e") == "a\\|b&lt;c&gt;\\`d\\` \\# e"
    assert code("a`b|c") == "`` a`b¦c ``"
    assert fenced("+```\n+x").startswith("````diff\n")


def test_the_terminal_tells_it_in_lines():
    text = "\n".join(repository_lines(result_of()))
    for word in ("faster, and the whole suite passes", "3.00x (2.50x to 3.50x)", "not kept: no inputs f", "whet/2026"):
        assert word in text
    assert "\x1b" not in "\n".join(repository_lines(result_of(HOSTILE)))


def test_a_repository_that_cannot_be_judged_is_an_error_of_one_line():
    with pytest.raises(BaselineError, match="faster f"):
        show_repository(result_of(status=Status.BASELINE_INVALID), as_json=False)


def test_the_document_comes_back_as_it_was():
    result = result_of()
    document = result.to_json()
    assert document.pop("schema") == "whet.repository/1"
    assert from_plain(RepositoryResult, document) == result


@pytest.mark.parametrize("answer", list(RevisionAnswer))
def test_what_is_said_of_two_revisions_has_an_answer_a_function(answer):
    one = FunctionAnswer("a.py::f", answer, f"why {HOSTILE}", SPEEDUP)
    result = RevisionResult(
        "run", "/root", "a" * 40, "b" * 40, Status.NO_IMPROVEMENT, answer, (one,), 3, ("t",), (), "run it", WHOLE, 1.0,
        "so",
    )  # fmt: skip
    text = "\n".join(revision_lines(result))
    assert answer.value.replace("not_shown", "no gain shown").replace("_", " ") in text
    assert "3 pass as before, 1 fail, 0 are gone" in text
    assert "\x1b" not in text
    assert from_plain(RevisionResult, to_plain(result)) == result
