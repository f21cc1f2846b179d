"""Which modules warm workers import, and when timed processes may be forks."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from whet.core.options import Options
from whet.core.task import Task
from whet.evaluators.artifacts import Artifact, Builder
from whet.evaluators.finding import Fault
from whet.evaluators.inputs.source import Input
from whet.evaluators.meters.time import TIME
from whet.evaluators.preloads import preloads
from whet.evaluators.targets import read_task
from whet.evaluators.timing import zygotes
from whet.evaluators.timing.bench import Bench
from whet.evaluators.timing.workloads import TimedWorkload
from whet.evaluators.timing.zygotes import DEAR_SECONDS, ZYGOTES, Zygotes, may, too_far
from whet.sandbox.backends import BACKENDS
from whet.sandbox.inside.codec import encode
from whet.sandbox.inside.decode import decode
from whet.sandbox.interpreter import Interpreter, find_interpreter
from whet.sandbox.protocol import Sandbox


def task(folder: Path, source: str, **others: str) -> Task:
    for name, text in {"target": source, **others}.items():
        (folder / f"{name}.py").write_text(textwrap.dedent(text))
    return read_task(f"{folder / 'target.py'}::f", Options())


def test_what_stands_at_the_top_of_the_tasks_own_files_is_preloaded(tmp_path: Path) -> None:
    source = """
        import json, numpy as np
        import helper
        from scipy.sparse import linalg
        try:
            import torch.nn
        except ImportError:
            torch = None
        def f():
            import pandas
        """
    made = task(tmp_path, source, helper="import os.path, attrs\nfrom . import nothing\n")
    assert preloads(made) == ("attrs", "numpy", "scipy.sparse", "scipy.sparse.linalg", "torch.nn")


def test_a_program_starts_anew_so_nothing_is_preloaded(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("import numpy\n")
    assert preloads(read_task(str(tmp_path / "program.py"), Options())) == ()


@pytest.mark.parametrize(
    ("low", "high", "allowed"),
    [(0.99, 1.01, True), (1.001, 1.01, False), (0.98, 0.999, False), (0.97, 1.01, False), (0.99, 1.03, False)],
)
def test_forks_need_an_interval_that_holds_1_within_the_floor(low: float, high: float, allowed: bool) -> None:
    assert may(low, high) is allowed


@pytest.mark.parametrize(
    ("columns", "far"),
    [
        ([[0.0, 0.05, -0.06, 0.07, -0.05, 0.01, 0.06, -0.05]], True),
        ([[0.0, 0.03, -0.03, 0.03, -0.03, 0.01, 0.9, -0.9]], False),
        ([[0.06] * 8, [-0.06] * 8], False),
    ],
    ids=["most turns", "two turns", "one workload against the other"],
)
def test_a_machine_that_is_far_too_noisy_for_forks_is_known_early(columns: list[list[float]], far: bool) -> None:
    assert too_far(columns) is far


@pytest.fixture(scope="module", params=list(BACKENDS))
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    if request.param == "docker":
        request.getfixturevalue("docker_host")
    elif shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    made = BACKENDS[request.param]()
    yield made
    made.close()


@pytest.fixture(scope="module")
def interpreter(tmp_path_factory: pytest.TempPathFactory) -> Interpreter:
    """One with a module whose import is dear."""
    folder = tmp_path_factory.mktemp("venv")
    folder.chmod(0o755)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    (packages / "dear.py").write_text("import time\ntime.sleep(0.4)\n")
    return find_interpreter(folder / "bin" / "python")


def bench(sandbox: Sandbox, interpreter: Interpreter, made: Task) -> Bench:
    artifact = Builder(made, sandbox, interpreter, preloads(made)).build(made.source)
    assert isinstance(artifact, Artifact)

    def draw(seed: int, count: int) -> list[Input]:
        return [Input("one", encode((seed % 1000 + i,)), None, seed) for i in range(count)]

    work = TimedWorkload("one", 20, draw)
    core = max(os.sched_getaffinity(0))
    return Bench(artifact, artifact, [work], lambda item, ours, theirs: None, 10.0, (core,), TIME)


@pytest.mark.corpus
def test_dear_imports_are_timed_in_forks_only_where_a_a_allows(
    sandbox: Sandbox, interpreter: Interpreter, tmp_path: Path
) -> None:
    made = task(tmp_path, "import dear\ndef f(n):\n    return sum(range(20000 + n))\n")
    fresh = bench(sandbox, interpreter, made)
    settled, facts = Zygotes().settle(fresh, 0.99, 1)
    assert facts["import_seconds"] > DEAR_SECONDS
    assert facts["zygotes"] == ZYGOTES
    allowed = may(*facts["aa_ratio"])
    assert facts["kind"] == ("forks" if allowed else "fresh")
    assert (settled is fresh) is not allowed
    turn = settled.turn(5)
    assert turn.passes["one"]["candidate"].outcomes == turn.passes["one"]["baseline"].outcomes


def test_forks_that_were_refused_are_not_tried_again_on_the_same_sides(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sides = [SimpleNamespace(source_id=name, builder=SimpleNamespace(preload=("dear",))) for name in "abc"]
    measured: list[str] = []

    def against_itself(bench: Bench, confidence: float, seed: int) -> tuple[float, float]:
        measured.append(bench.candidate.source_id)
        return 0.5, 2.0

    monkeypatch.setattr(zygotes, "_import_seconds", lambda bench, worker: 1.0)
    monkeypatch.setattr(zygotes, "_against_itself", against_itself)
    kept = Zygotes()
    for candidate in (sides[1], sides[1], sides[2]):
        fresh = Bench(sides[0], candidate, [], lambda *_: None, 1.0, (0,), TIME)  # type: ignore[arg-type]
        settled, facts = kept.settle(fresh, 0.99, 1)
        assert settled is fresh
        assert facts["kind"] == "fresh"
        assert facts["aa_ratio"] == (0.5, 2.0)
    assert measured == ["b", "c"]


def test_without_imports_of_others_processes_are_fresh(
    sandbox: Sandbox, interpreter: Interpreter, tmp_path: Path
) -> None:
    fresh = bench(sandbox, interpreter, task(tmp_path, "def f(n):\n    return n\n"))
    assert Zygotes().settle(fresh, 0.99, 1) == (fresh, {"kind": "fresh"})


@pytest.mark.corpus
def test_a_subject_is_forked_off_the_worker_that_is_named(
    sandbox: Sandbox, interpreter: Interpreter, tmp_path: Path
) -> None:
    made = task(tmp_path, "import dear\ndef f():\n    import sys\n    return id(sys)\n")
    artifact = bench(sandbox, interpreter, made).baseline

    def place(worker: int | None) -> object:
        process = artifact.start(worker=worker)
        assert not isinstance(process, Fault)
        try:
            answer = process.call(encode(()), 10.0)
        finally:
            process.close()
        assert not isinstance(answer, Fault)
        return decode(answer[0])[3]

    assert place(1) == place(1) != place(2)
    assert place(None) != place(None)
