"""What is kept of a measurement, and the layouts that native code is measured in."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from whet.core.candidate import Candidate
from whet.core.options import Options
from whet.core.verdict import Verdict
from whet.evaluators.artifacts import KEPT, Artifact
from whet.evaluators.ladder import Ladder, open_ladder
from whet.evaluators.targets import read_task
from whet.evaluators.timing.statistics import Stage
from whet.evaluators.timing.turns import SIDES
from whet.sandbox.toolchains import native

PYTHON = """\
import threading

def total(values):
    parts = []
    threads = [threading.Thread(target=lambda: parts.append(sum(v * v for v in values))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return parts[0]
"""
CPP = """\
#include <cstdio>
static unsigned table[4096] = {1};
__attribute__((noinline)) unsigned mix(unsigned value) { return value * 2654435761u ^ (value >> 7); }
int main() {
    unsigned count = 0, value = 1;
    if (std::scanf("%u", &count) != 1) return 1;
    for (unsigned i = 0; i < count; ++i) value += table[(value = mix(value)) % 4096];
    std::printf("%u\\n", value);
}
"""
GENERATORS = {
    "total.py": """\
sizes = [100, 20000, 30000]
def make_input(size, rng):
    return ([rng.random() for _ in range(size)],)
""",
    "mixed.cpp": """\
sizes = [10, 3000000, 4000000]
def make_input(size, rng):
    return f'{size + rng.randrange(9)}\\n'
""",
}


@pytest.fixture
def script(scripted: Callable[..., None]) -> None:
    scripted(ratio=1.0)


@pytest.fixture
def ladder(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Ladder]:
    name, source = request.param
    (tmp_path / name).write_text(source)
    (tmp_path / "workload.py").write_text(GENERATORS[name])
    target = f"{tmp_path / name}::total" if name.endswith(".py") else str(tmp_path / name)
    made = open_ladder(read_task(target, Options(sandbox="bubblewrap")), Options(sandbox="bubblewrap"), 7)
    try:
        made.validate()
        yield made
    finally:
        made.close()


def measured(ladder: Ladder) -> list[dict[str, object]]:
    itself = Candidate(ladder.task.source)
    verdict = ladder.measure(itself, Verdict(itself.id, ()), (Stage(4, 0.0),))
    assert verdict.measurement is not None
    return list(verdict.measurement.raw["turns"])


@pytest.mark.timed
@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
@pytest.mark.parametrize("ladder", [("total.py", PYTHON)], indirect=True)
def test_every_sample_is_kept_with_what_surrounded_it(ladder: Ladder) -> None:
    turns = measured(ladder)
    assert len(turns) >= 4
    assert len({tuple(turn["order"]) for turn in turns}) > 1
    for turn in turns:
        assert sorted(turn["order"]) == sorted(SIDES)
        assert len(turn["cores"]) == 1
        assert turn["load"] >= 0
        assert turn["megahertz"] is None or turn["megahertz"] > 100
        for sides in turn["passes"].values():
            for one in sides.values():
                assert one["outside"] > one["inside"] > 0
                assert one["cpu"] > 0
                assert one["waits"] > 0  # it waits for its threads
                assert "outcomes" not in one


@pytest.mark.corpus
@pytest.mark.usefixtures("script")
@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
@pytest.mark.parametrize("ladder", [("mixed.cpp", CPP)], indirect=True)
def test_native_code_is_measured_in_several_layouts(ladder: Ladder) -> None:
    artifact = ladder.baseline.artifact
    assert isinstance(artifact, Artifact)
    programs = sorted(artifact.tree.iterdir())
    assert len(programs) == artifact.layouts == native.LAYOUTS
    places = {(_address(program, "mix"), _address(program, "table")) for program in programs}
    assert len(places) == native.LAYOUTS
    assert len({code for code, _ in places}) > 1
    assert len({data for _, data in places}) > 1
    drawn = [layout for turn in measured(ladder) for layout in turn["layouts"].values()]
    assert len(set(drawn)) > 1
    assert set(drawn) <= set(range(native.LAYOUTS))


def test_the_same_program_has_the_same_layouts_and_another_has_others() -> None:
    assert native.paddings("a") == native.paddings("a")
    assert native.paddings("a")[1:] != native.paddings("b")[1:]
    assert native.paddings("a")[0] == native.paddings("b")[0]


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
@pytest.mark.parametrize("ladder", [("total.py", PYTHON)], indirect=True)
def test_trees_of_candidates_do_not_pile_up(ladder: Ladder) -> None:
    builder, baseline = ladder.builder, ladder.baseline.artifact
    built = [builder.build(f"{PYTHON}# {number}\n") for number in range(KEPT + 20)]
    staged = {
        artifact.tree for artifact in (baseline, *built) if isinstance(artifact, Artifact) and artifact.tree.exists()
    }
    assert len(staged) == KEPT
    assert {baseline.tree, built[-1].tree} <= staged
    assert built[0].tree not in staged
    again = builder.build(f"{PYTHON}# 0\n")
    assert isinstance(again, Artifact)
    assert again.tree.exists()


def _address(program: Path, symbol: str) -> str:
    listed = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
    return next(row.split()[0] for row in listed.splitlines() if symbol in row.split()[-1])
