"""Sizes that are too short to time serve correctness only; exit 5 is for a target of which none can be timed."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

import whet
from whet.core.errors import BaselineError
from whet.core.options import Options
from whet.core.result import Status
from whet.evaluators.baseline import Baseline, expect_fit
from whet.evaluators.ladder import Ladder, open_ladder
from whet.evaluators.meters.memory import Memory
from whet.evaluators.targets import read_task

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")

PROGRAM = "print(sum(map(int, input().split())))\n"
WORKLOAD = """\
sizes = [10, 100, 700, 900]
def make_input(size, rng):
    return " ".join(str(rng.randrange(1000)) for _ in range(size)) + "\\n"
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("short")
    (made / "total.py").write_text(PROGRAM)
    (made / "workload.py").write_text(WORKLOAD)
    (made / "same.py").write_text(PROGRAM + "\n")
    return made


@pytest.fixture(scope="module")
def ladder(folder: Path) -> Iterator[Ladder]:
    options = Options(workload=folder / "workload.py", until="differential", sandbox="bubblewrap")
    with closing(open_ladder(read_task(str(folder / "total.py"), options), options, 1)) as made:
        made.validate()
        yield made


def took(ladder: Ladder, *milliseconds: float) -> Baseline:
    """Returns the baseline as though a run of each size had taken so long."""
    sizes = ladder.source.sizes
    return replace(
        ladder.baseline, seconds={f"size {size}": ms / 1e3 for size, ms in zip(sizes, milliseconds, strict=True)}
    )


@pytest.mark.parametrize(
    ("milliseconds", "timed", "told"),
    [
        ((1, 2, 50, 70), ["size 700", "size 900"], {}),
        ((1, 2, 3.36, 70), ["size 900"], {"size 700": 0.00336}),
        ((1, 2, 70, 3.36), ["size 700"], {"size 900": 0.00336}),
        ((1, 60, 2, 3), ["size 100"], {"size 700": 0.002, "size 900": 0.003}),
    ],
)
def test_what_can_be_timed_is_and_the_rest_is_named(
    ladder: Ladder, milliseconds: tuple[float, ...], timed: list[str], told: dict[str, float]
) -> None:
    baseline = took(ladder, *milliseconds)
    assert [work.name for work in baseline.workloads(ladder.source)] == timed
    assert baseline.too_short(ladder.source) == pytest.approx(told)
    expect_fit(ladder.task, baseline, ladder.source)


def test_a_size_that_only_serves_to_look_at_takes_few_bytes(folder: Path) -> None:
    (folder / "first.py").write_text("def first(items):\n    return items[0]\n")
    numbers = "[rng.randrange(1000)] * 900 * size"
    (folder / "lists.py").write_text(f"sizes = [1, 90, 100]\ndef make_input(size, rng):\n    return ({numbers},)\n")
    options = Options(workload=folder / "lists.py", until="differential", sandbox="bubblewrap")
    with closing(open_ladder(read_task(f"{folder}/first.py::first", options), options, 1)) as made:
        made.validate()
        baseline = took(made, 0.01, 1, 1)
        counts = {work.name: work.count for work in baseline.workloads(made.source, 1)}
    # A size that counts has as many inputs as a pass needs; one of 7 kB that does not has 1 MiB of them.
    assert counts["size 100"] == 25
    assert "size 1" not in counts, "145 calls of it last 1.5 ms"


def test_a_target_of_which_no_size_can_be_timed_is_unusable(ladder: Ladder) -> None:
    baseline = took(ladder, 1, 2, 3, 4)
    with pytest.raises(BaselineError, match=r"takes 4 ms on size 900, too short to time"):
        expect_fit(ladder.task, baseline, ladder.source)
    expect_fit(ladder.task, baseline, ladder.source, timed=False)


def test_what_no_clock_measures_is_never_too_short(ladder: Ladder) -> None:
    baseline = replace(took(ladder, 1, 2, 3, 4), meter=Memory())
    assert baseline.headline(ladder.source) == ["size 700", "size 900"]
    assert baseline.too_short(ladder.source) == {}
    expect_fit(ladder.task, baseline, ladder.source)


def test_nothing_is_too_short_below_the_rung_that_measures(folder: Path) -> None:
    (folder / "same.py").write_text("def total(items):\n    return sum(items)\n\n")
    (folder / "quick.py").write_text("def total(items):\n    return sum(items)\n")
    (folder / "one.py").write_text("sizes = [1, 2]\ndef make_input(size, rng):\n    return ([rng.random()] * size,)\n")
    target, words = f"{folder}/quick.py::total", {"workload": folder / "one.py", "home": folder / "home"}
    result = whet.verify(target, candidate=folder / "same.py", until="differential", **words)
    assert result.status is Status.NO_IMPROVEMENT, result.message
