"""The catalogue on tasks of assembly: it rewrites the loops of their references in C, and what it writes is right."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import whet
from whet.agents.catalogue.base import Proposal
from whet.agents.catalogue.registry import proposals
from whet.agents.situation import Situation
from whet.benchmarks import tasks
from whet.core.candidate import Candidate
from whet.core.circumstances import Circumstances
from whet.core.options import Options
from whet.core.profile import Profile
from whet.core.result import Status
from whet.evaluators.targets import read_task

TASKS = Path(tasks.__file__).parent / "asm"
PLACE = Circumstances("a processor", {}, "CPython 3.11", {}, "gcc 12", ())
EDITS = {
    "popcount-sum": "vector-popcount",
    "dot-i32": "vector-sum",
    "dot-i8": "vector-small-dot",
    "saxpy": "vector-elementwise",
    "find-byte": "vector-search",
    "prefix-sum": "vector-prefix-sum",
}
"""By task, the edit that knows its loop."""

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")


def proposed(name: str) -> list[Proposal]:
    """Returns what the catalogue answers to the first prompt of a task, for which no text of its own is there yet."""
    task = read_task(str(TASKS / name), Options())
    profile = Profile((), "none", "")
    return proposals(Situation(task, "time", 1, PLACE, 1, 1, Candidate(task.source), profile, None).brief())


@pytest.mark.parametrize("name", EDITS)
def test_the_loop_of_a_reference_is_known(name: str) -> None:
    found = proposed(name)
    written = next(each.source for each in found if each.edit == EDITS[name])
    assert "immintrin.h" in written or "vector_size" in written
    assert {"pragma", "unroll-pragma", "compiler-choice"} & {each.edit for each in found}


@pytest.mark.corpus
@pytest.mark.parametrize("name", EDITS)
def test_what_is_written_passes_the_calls(name: str, tmp_path: Path) -> None:
    answer = tmp_path / "answer.c"
    answer.write_text(next(each.source for each in proposed(name) if each.edit == EDITS[name]))
    found = whet.verify(str(TASKS / name), candidate=answer, home=tmp_path / "home", until="differential")
    rungs = {rung.name: rung for rung in found.rungs}
    assert [rung for rung in found.rungs if rung.status == "failed"] == []
    assert rungs["differential"].status == "passed"


@pytest.mark.corpus
def test_a_search_without_any_model_improves_a_routine(scripted: Callable[..., None], tmp_path: Path) -> None:
    scripted(ratio=lambda source, workload: 2.0 if "_mm256_cmpeq_epi8" in source else 1.0)
    found = whet.optimize(
        str(TASKS / "find-byte"), model="catalogue", rounds=1, candidates=2, until=None, home=tmp_path / "home"
    )
    assert found.status is Status.IMPROVED, found.message
    assert found.candidate is not None
    assert "_mm256_cmpeq_epi8" in found.candidate.source
    assert found.speedup is not None
    measured = {each.name for each in found.speedup.baselines}
    assert {"the reference with gcc -O3", "the reference with gcc -O3 -march=native"} <= measured
