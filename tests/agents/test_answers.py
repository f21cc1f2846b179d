"""Reading answers and applying patches."""

from __future__ import annotations

import difflib
import re

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from whet.agents.answers import DIFF, LONGEST, Answer, parse_answer
from whet.core.candidate import Candidate
from whet.core.patch import Malformed, apply_patch, occurrences
from whet.prompts import fence

PARENT = "import math\n\n\ndef f(xs):\n    out = []\n    for x in xs:\n        out.append(x * 2)\n    return out\n"
FASTER = PARENT.replace(
    "    out = []\n    for x in xs:\n        out.append(x * 2)\n    return out\n",
    "    return [x * 2 for x in xs]\n",
)
BLOCK = (
    "<<<<<<< SEARCH\n    out = []\n    for x in xs:\n        out.append(x * 2)\n    return out\n"
    "=======\n    return [x * 2 for x in xs]\n>>>>>>> REPLACE\n"
)

texts = st.text(st.sampled_from("ab \t`~=<>+-@\\\n\r\x0cé\u2028"), max_size=60)
lines = st.lists(st.sampled_from(["a", "b", "", " a", "-", "+", "-- x", "++ y", "@@", "\x0c", "\\"]), max_size=12)


def parsed(text: str, parent: str = PARENT, language: str = "python") -> Answer:
    answer = parse_answer(text, parent, language)
    assert isinstance(answer, Answer), answer
    return answer


def complaint(text: str, parent: str = PARENT) -> str:
    answer = parse_answer(text, parent, "python")
    assert isinstance(answer, Malformed), answer
    assert "\n" not in answer.complaint
    return answer.complaint


def diff(old: str, new: str) -> str:
    return Candidate(new).diff(old, "f.py")


@pytest.mark.parametrize(
    "text",
    [
        f"```python\n{FASTER}```",
        f"Sure:\n\n```\n{FASTER}```\nDone.",
        f"~~~~py\n{FASTER}~~~~",
        f"First a part:\n```text\nnoise\n```\nthen the file:\n```python\n{FASTER}```\n",
        f"<think>\n```python\nx\n```\n</think>\n```python\n{FASTER}```",
        BLOCK,
        f"```python\n{BLOCK}```",
        f"text\n{BLOCK}more",
        diff(PARENT, FASTER),
        f"Here:\n```diff\n{diff(PARENT, FASTER)}```\nEnd.",
        f"Here:\n{diff(PARENT, FASTER)}\nThat is all.",
        f"diff --git a/f.py b/f.py\nindex 1..2 100644\n{diff(PARENT, FASTER)}",
        f"```python\n{FASTER}```".replace("\n", "\r\n"),
        BLOCK.replace("\n", "\r\n"),
        diff(PARENT, FASTER).replace("\n", "\r\n"),
    ],
)
def test_each_form_of_answer_gives_the_same_bytes(text):
    assert parsed(text).source == FASTER


@pytest.mark.parametrize("name", ["a/package/f.py", "f.py", "./f.py", "f.py 2026-01-01", "original", "/dev/null"])
def test_a_diff_may_name_the_target_in_many_ways(name):
    text = diff(PARENT, FASTER).replace("--- a/f.py", f"--- {name}")
    answer = parse_answer(f"```diff\n{text}```", PARENT, "python", "package/f.py")
    assert isinstance(answer, Answer), answer
    assert answer.source == FASTER


@pytest.mark.parametrize(
    "text",
    [
        diff(PARENT, FASTER).replace("f.py", "helpers.py"),
        diff(PARENT, FASTER).replace("b/f.py", "b/g.py"),
        f"Here:\n```diff\n{diff(PARENT, FASTER).replace('f.py', 'helpers.py')}```\n",
        f"```diff\n{diff(PARENT, FASTER)}```\n```diff\n--- a/g.py\n+++ b/g.py\n@@ -1 +1 @@\n-a\n+b\n```\n",
        f"diff --git a/f.py b/g.py\nrename from f.py\nrename to g.py\n{diff(PARENT, FASTER)}",
    ],
)
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_a_diff_of_another_file_is_malformed(text, ends):
    answer = parse_answer(text.replace("\n", ends), PARENT, "python", "package/f.py")
    assert isinstance(answer, Malformed)
    assert "only f.py may change" in answer.complaint
    assert "\n" not in answer.complaint


def test_lines_that_look_like_the_head_of_another_file_are_lines():
    old, new = "-- other.py\n", "++ other.py\n"
    answer = parse_answer(diff(old, new), old, "python", "f.py")
    assert isinstance(answer, Answer), answer
    assert answer.source == new


@given(texts)
@example("@@")
def test_a_fenced_file_comes_back_byte_for_byte(source):
    assume(not DIFF.match(source))  # that is read as a diff
    assert parsed(fence(source, "python"), parent=source).source == source


@given(texts, texts)
def test_any_text_is_read_or_refused(text, parent):
    answer = parse_answer(text, parent, "python")
    assert isinstance(answer, Answer | Malformed)


@given(lines, lines, st.booleans(), st.booleans(), st.integers(0, 3))
def test_a_patch_makes_the_new_text_of_the_old(old, new, old_ends, new_ends, context):
    before = "\n".join(old) + "\n" * old_ends
    after = "\n".join(new) + "\n" * new_ends
    if before != after:
        kept = [re.findall(r"[^\n]*\n|[^\n]+", text) for text in (before, after)]
        pieces = difflib.unified_diff(*kept, "a/f", "b/f", n=context)
        mark = "\n\\ No newline at end of file\n"
        patch = "".join(piece if piece.endswith("\n") else piece + mark for piece in pieces)
        assert apply_patch(patch, before) == after


@given(lines, lines)
def test_a_candidates_own_diff_applies(old, new):
    before, after = "\n".join(old), "\n".join(new)
    if before != after:
        assert apply_patch(diff(before, after), before) == after


@pytest.mark.parametrize("shift", [-3, 1, 40])
def test_wrong_line_numbers_do_no_harm_where_one_place_fits(shift):
    text = diff(PARENT, FASTER).replace("@@ -2,7 +2,4 @@", f"@@ -{2 + shift if shift > -2 else 0},9 +1,2 @@")
    assert "@@ -2,7" not in text
    assert apply_patch(text, PARENT) == FASTER
    assert apply_patch(diff(PARENT, FASTER).replace("@@ -2,7 +2,4 @@", "@@"), PARENT) == FASTER


def test_stripped_blanks_of_empty_context_lines_do_no_harm():
    patch = diff("a\n\nb\n", "a\n\nc\n").replace("\n \n", "\n\n")
    assert "\n\n" in patch
    assert apply_patch(patch, "a\n\nb\n") == "a\n\nc\n"


def test_the_stated_line_decides_between_like_places():
    source = "x\n" * 6
    assert apply_patch("@@ -3 +3 @@\n-x\n+y\n", source) == "x\nx\ny\nx\nx\nx\n"
    found = apply_patch("@@\n-x\n+y\n", source)
    assert isinstance(found, Malformed)
    assert "6 places" in found.complaint


def test_a_form_feed_is_no_line_end():
    assert apply_patch(diff("a\x0cb\nc\n", "a\x0cb\nd\n"), "a\x0cb\nc\n") == "a\x0cb\nd\n"


def test_line_ends_follow_the_parent():
    parent = PARENT.replace("\n", "\r\n")
    for text in (f"```python\n{FASTER}```", BLOCK, diff(PARENT, FASTER), diff(parent, FASTER.replace("\n", "\r\n"))):
        assert parsed(text, parent).source == FASTER.replace("\n", "\r\n")
    mixed = "a\r\nb\nc\n"
    assert parsed("<<<<<<< SEARCH\nb\n=======\nB\n>>>>>>> REPLACE", mixed).source == "a\r\nB\nc\n"


def test_a_missing_last_newline_stays_missing():
    assert parsed("```python\nb\n```", "a").source == "b"
    assert parsed("<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE", "x\na").source == "x\nb"
    assert parsed("```python\nb\n```", "").source == "b\n"


def test_headers_are_read_where_they_precede_the_code():
    heads = "**Change:** one  pass instead of two\nKind: Algorithm, magic, library call\nEdit: x-1\n"
    answer = parsed(f"{heads}```python\n{FASTER}```\nChange: no")
    assert answer.note == "one pass instead of two"
    assert answer.labels == ("algorithm", "library call")
    assert answer.edit == "x-1"
    plain = parsed(f"```python\n{FASTER}```\nKind: algorithm\n")
    assert (plain.note, plain.labels, plain.edit) == ("", (), "")
    assert parsed(f"Edit: ../../etc\n```python\n{FASTER}```").edit == ""


def test_a_heading_in_the_code_is_no_divider():
    parent = "Title\n=======\nold\n"
    text = "<<<<<<< SEARCH\nTitle\n=======\nold\n=======\nTitle\n=======\nnew\n>>>>>>> REPLACE"
    # The longest part that stands in the file is what is searched for.
    assert parsed(text, parent).source == "Title\n=======\nnew\n"


def test_blocks_apply_one_after_another():
    text = (
        "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n\n<<<<<<< SEARCH\nb\n=======\nc\nd\n>>>>>>> REPLACE\n"
        "<<<<<<< SEARCH\nd\n=======\n>>>>>>> REPLACE\n"
    )
    assert parsed(text, "a\n").source == "c\n"


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "no code"),
        ("I would use a faster sort.", "no code"),
        ("```python\nx = 1\n", "ends inside"),
        ("```python\nx\n```\n```python\ny\n```", "exactly one"),
        ("x" * (LONGEST + 1), "longer than"),
        ("```python\n\ud800\n```", "Unicode"),
        ("<<<<<<< SEARCH\nnowhere\n=======\nx\n>>>>>>> REPLACE", "do not stand in the file"),
        ("<<<<<<< SEARCH\n\n=======\nx\n>>>>>>> REPLACE", "3 times"),
        ("<<<<<<< SEARCH\n=======\nx\n>>>>>>> REPLACE", "searches for nothing"),
        ("<<<<<<< SEARCH\nimport math\n>>>>>>> REPLACE", "no line '======='"),
        ("<<<<<<< SEARCH\nimport math\n=======\nx\n", "block 1 has no line '>>>>>>> REPLACE'"),
        ("```diff\nnothing here\n```", "no hunk"),
        ("--- a/f\n+++ b/f\n@@ -1 +1 @@\n-import maths\n+x\n", "does not fit"),
        ("--- a/f\n+++ b/f\n@@ -1 +1 @@\n import math\n", "changes nothing"),
        ("--- a/f\n+++ b/f\n@@ -1 +1 @@\n-import math\n+x\n--- a/g\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n", "one file"),
        ("```diff\n@@\n+x\n```", "no context"),
    ],
)
def test_a_malformed_answer_says_what_to_mend(text, part):
    assert part in complaint(text, PARENT.replace("\n\n\n", "\n\n\n\n") if part == "3 times" else PARENT)


@pytest.mark.timeout(60)  # they take under a second; what grows with the square would take hours
@pytest.mark.parametrize(
    "text",
    [
        "<<<<<<< SEARCH\n" + "a\n" * 100_000 + "b\n=======\nx\n>>>>>>> REPLACE",
        "<<<<<<< SEARCH\na\n=======\nx\n>>>>>>> REPLACE\n" * 20_000,
        "@@ -1,999999999 +1,999999999 @@\n" + "@@ -1 +1 @@\n-a\n+b\n" * 30_000,
        "`" * LONGEST,
        "```\n" * (LONGEST // 4),
        "<think>" * (LONGEST // 7),
        "--- \n" * (LONGEST // 5),
        "=======\n" * 100_000,
    ],
)
def test_hostile_answers_take_no_long_time(text):
    assert isinstance(parse_answer(text, "a\n" * 200_000, "python"), Malformed)


@given(st.lists(st.sampled_from("ab"), max_size=30), st.lists(st.sampled_from("ab"), min_size=1, max_size=4))
def test_occurrences_are_all_found(text, wanted):
    expected = [i for i in range(len(text)) if text[i : i + len(wanted)] == wanted]
    assert occurrences(text, wanted) == expected
