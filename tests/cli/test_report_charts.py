"""What a report draws, and how it fits texts into their room."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import escape

from whet.benchmarks.pages.scale import MOST_TICKS, Scale
from whet.benchmarks.pages.texts import cut, read_diff
from whet.cli.report.charts import FIRST, HEIGHT, LAST, TOP, Point, curve
from whet.core.candidate import Candidate

RATIOS = st.floats(1e-4, 1e6)
ANY = st.one_of(RATIOS, st.sampled_from([0.0, -1.0, math.inf, -math.inf, math.nan]))
LINES = st.lists(st.text("ab+-@ \t<&'\U000f0000", max_size=12), max_size=30).map(lambda lines: "\n".join([*lines, ""]))


@given(st.lists(ANY, max_size=8))
def test_an_axis_holds_every_ratio_and_marks_one(values):
    scale = Scale.over(values)
    assert 0 < scale.low < 1 < scale.high < math.inf
    assert all(0 <= scale.percent(value) <= 100 for value in values)
    ticks = scale.ticks
    assert 1.0 in ticks
    assert ticks == sorted(set(ticks))
    assert len(ticks) <= MOST_TICKS
    assert scale.low <= ticks[0]
    assert ticks[-1] <= scale.high


@given(RATIOS, RATIOS)
def test_an_axis_is_logarithmic(first, second):
    scale = Scale.over([first, second])
    assert (first < second) <= (scale.share(first) < scale.share(second) or math.isclose(first, second))
    middle = scale.share(math.sqrt(first * second))
    assert math.isclose(middle, (scale.share(first) + scale.share(second)) / 2, abs_tol=1e-9)


@pytest.mark.parametrize(
    ("values", "ticks"),
    [
        ([], [0.95, 1.0, 1.05]),
        ([1.9], [1.0, 1.2, 1.4, 1.6, 1.8, 2.0]),
        ([0.4, 30], [0.5, 1, 2, 5, 10, 20]),
        ([0.05, 20], [0.1, 0.3, 1, 3, 10]),
        ([3e5], [1, 10, 100, 1000, 10_000, 100_000]),
    ],
)
def test_ticks_are_round(values, ticks):
    assert Scale.over(values).ticks == ticks


def test_the_curve_rises_with_what_counts_alone():
    points = [
        Point(1, 2.0, True, "better"),
        Point(2, None, False, "wrong"),
        Point(3, 9.0, False, "timed"),
        Point(4, 1.5, True, "better"),
        Point(5, 4.0, True, "winner"),
    ]
    drawn = curve(points)
    one, two, four = (next(dot.y for dot in drawn.dots if dot.number == number) for number in (1, 4, 5))
    assert [dot.y for dot in drawn.dots if dot.kind == "wrong"] == [None]
    assert len(drawn.lines) == 5
    assert (drawn.lines[0].x1, drawn.lines[-1].x2) == (FIRST, LAST)
    assert [line.y2 for line in drawn.lines if line.x1 == line.x2] == [one, four]
    assert TOP <= four < one < two <= TOP + HEIGHT
    for line, following in zip(drawn.lines, drawn.lines[1:], strict=False):
        assert (line.x2, line.y2) == (following.x1, following.y1)


def test_a_curve_without_candidates_is_flat():
    (line,) = curve([]).lines
    assert line.y1 == line.y2


@given(LINES, LINES, st.integers(0, 400))
def test_a_diff_keeps_its_first_lines_and_counts_the_others(before, after, room):
    text = Candidate(after).diff(before, "f.py")
    whole, shown = read_diff(text, 10**9), read_diff(text, room)
    assert (
        "\n".join(block.text for block in whole.blocks).encode()
        == text.rstrip("\n").partition("\n")[2].partition("\n")[2].replace("\U000f0000", "\\U000f0000").encode()
    )
    assert whole.left_out == ""
    assert (shown.added, shown.removed) == (whole.added, whole.removed)
    kept = [line for block in shown.blocks for line in block.text.split("\n")]
    lines = [line for block in whole.blocks for line in block.text.split("\n")]
    assert kept == lines[: len(kept)]
    assert shown.left_out.startswith(f"{len(lines) - len(kept)} " if len(kept) < len(lines) else "")
    assert sum(len(str(escape(line)).encode()) for line in kept) <= room
    for block in whole.blocks:
        marks = {"ins": "+", "del": "-", "hunk": "@"}
        assert {line[:1] for line in block.text.split("\n")} <= set(marks.get(block.kind, " \\"))


@given(st.text(max_size=60), st.integers(1, 80))
def test_a_text_is_cut_by_the_bytes_that_it_takes(text, room):
    shown = cut(text, room)
    kept = shown.partition("… (")[0] if shown.endswith("left out)") else shown
    assert len(str(escape(kept)).encode()) <= room or "… (" in text
    assert cut(text, 10**6).startswith(kept)
