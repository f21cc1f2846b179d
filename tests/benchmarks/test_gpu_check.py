"""`make gpu-check`: its rows, what it can do without a GPU, and how it says what it could not do."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from paths import ROOT

from whet.benchmarks.gpu_check import on_gpu, profiled, profiling, report
from whet.benchmarks.gpu_check.__main__ import main, merged
from whet.benchmarks.gpu_check.environment import look
from whet.benchmarks.gpu_check.findings import NOT_RUN, AnswerResult, Figures, StepResult, unrun
from whet.benchmarks.gpu_check.rows import ANSWERS, LANGUAGES, RIGHT, Row, rows
from whet.benchmarks.gpu_check.without_gpu import check, outcomes
from whet.core.circumstances import Circumstances, ModuleCost, TimedInput
from whet.core.errors import UsageError
from whet.core.measurement import Measurement, Outcome, Speedup
from whet.core.verdict import Reason, Rung, RungStatus, Verdict
from whet.evaluators.kernels.answers import AnswerLanguage, kind_of
from whet.evaluators.kernels.problem import screen_answer
from whet.sandbox.interpreter import find_interpreter
from whet.sandbox.nvml import Gpu, find_gpu
from whet.sandbox.toolchains.cuda import packages

EVERY = rows()
KINDS = {"cuda": AnswerLanguage.CUDA_INLINE, "triton": AnswerLanguage.TRITON}
LARGE_GRIDS = ("causal-conv", "cg", "depthwise-conv", "int8-gemv", "masked-softmax", "small-conv")
WORDS = {"improved", "passed", *Reason}

has_triton = "triton" in packages(find_interpreter(None))
needs_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed")
without_gpu = pytest.mark.skipif(isinstance(find_gpu(), Gpu), reason="there is a GPU here")


def row_of(end: str) -> Row:
    return next(row for row in EVERY if str(row.path).endswith(end))


ONE = row_of("rmsnorm/half-precision.py")


# rows


def test_the_rows_cover_kernels_languages_and_kinds() -> None:
    for language in LANGUAGES:
        mine = [row for row in EVERY if row.language == language]
        assert len({row.kernel for row in mine if row.kind == "good"}) >= 12
        for kind, least in (("slow", 2), ("wrong", 3), ("cheating", 4)):
            assert len([row for row in mine if row.kind == kind]) >= least
    assert len({(row.kernel, row.language, row.answer) for row in EVERY}) == len(EVERY)


def test_each_text_has_its_row() -> None:
    assert {row.path for row in EVERY if ANSWERS in row.path.parents} == set(ANSWERS.glob("*/*.py"))


@pytest.mark.parametrize("row", EVERY, ids=lambda row: f"{row.kernel}-{row.language}-{row.path.stem}")
def test_each_row_is_whole(row: Row) -> None:
    assert screen_answer(row.source, row.problem.read_text()) is None
    assert kind_of(row.source) is KINDS[row.language]
    assert row.expected
    assert {*row.expected, *row.interpreted} <= WORDS
    assert bool(row.interpreted) == (row.language == "triton")
    assert row.note or row.kind == "good"
    if row.kind in ("wrong", "cheating"):
        assert "improved" not in row.expected


def test_what_is_carried_along_is_what_whet_depends_on() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    carried = (ROOT / "whet/benchmarks/gpu_check/requirements.txt").read_text().splitlines()
    assert {line.partition(",")[0] for line in carried} <= set(project["dependencies"])


# without a GPU


@pytest.fixture(scope="module")
def found() -> AnswerResult:
    pytest.importorskip("torch", reason="torch is not installed")
    (one,) = check([ONE], look().options("cpu"))
    return one


@pytest.mark.corpus
@pytest.mark.skipif(not has_triton, reason="triton is not installed")
def test_a_wrong_answer_is_caught_by_the_interpreter(found: AnswerResult) -> None:
    assert {step: outcome.word for step, outcome in found.steps.items()} == {
        "build": "passed",
        "interpreter": "wrong_output",
    }
    assert report.complete([found])


@pytest.mark.corpus
@needs_torch
@pytest.mark.skipif(not has_triton, reason="triton is not installed")
def test_answers_are_told_right_from_wrong_without_timing_any() -> None:
    good, wrong = on_gpu.compare([row_of("kernels/rmsnorm/triton.py"), ONE], look().options("cpu"))
    assert {one.row.kind: one.steps for one in (good, wrong)} == {
        "good": {"correctness": StepResult("right", expected=("right",))},
        "wrong": {"correctness": StepResult("wrong_output", wrong.steps["correctness"].detail, ("wrong_output",))},
    }
    assert report.complete([good, wrong])


def test_what_is_expected_before_a_clock_is_asked() -> None:
    assert on_gpu.words_of_correctness(RIGHT) == ("right",)
    assert on_gpu.words_of_correctness(("wrong_output", "nondeterministic")) == ("wrong_output", "nondeterministic")
    assert on_gpu.words_of_correctness(("cheating", "wrong_output", "slower")) == ("right", "wrong_output")


@needs_torch
@pytest.mark.skipif(not has_triton, reason="triton is not installed")
@pytest.mark.parametrize(
    "kernel",
    [pytest.param(k, marks=pytest.mark.corpus if k == "int8-gemv" else pytest.mark.exhaustive) for k in LARGE_GRIDS],
)
def test_the_interpreter_gets_through_the_largest_grids(kernel: str) -> None:
    (one,) = check([row_of(f"{kernel}/triton.py")], look().options("cpu"))
    assert {step: outcome.word for step, outcome in one.steps.items()} == {"build": "passed", "interpreter": "passed"}


@pytest.mark.skipif(has_triton, reason="triton is installed")
def test_without_triton_its_answers_are_not_run(found: AnswerResult) -> None:
    assert [outcome.word for outcome in found.steps.values()] == [NOT_RUN, NOT_RUN]
    assert "pip install triton" in found.steps["build"].detail
    assert not report.complete([found])


@pytest.mark.corpus
@needs_torch
@needs_nvcc
def test_an_answer_in_cuda_compiles() -> None:
    (one,) = check([row_of("masked-softmax/decoy.py")], look().options("cpu"))
    assert [(step, outcome.word) for step, outcome in one.steps.items()] == [("build", "passed")]


@without_gpu
@needs_torch
def test_steps_on_a_device_are_not_run_without_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--only", "rmsnorm", "--steps", "device"]) == 1
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("environment: no GPU, Python ")
    for step in ("correctness", "timing", "profile"):
        assert f"{step}: NOT RUN: no NVIDIA driver is installed" in said
    assert len([line for line in said if line.startswith("| rmsnorm |")]) == 6


def test_answers_run_on_the_python_that_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    named = Path(sys.executable)
    assert {look(named).options(device).python for device in ("cpu", "cuda")} == {named}
    assert main(["--only", "rmsnorm", "--python", "/nowhere"]) == 2
    assert "gpu-check: --python /nowhere does not run" in capsys.readouterr().err


def test_without_its_dependencies_nothing_runs_and_it_says_what_is_missing(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-S", "-m", "whet.benchmarks.gpu_check", "--only", "spmm"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 1, done.stderr
    for step in ("environment", "build", "interpreter", "correctness", "timing", "profile"):
        assert (
            f"{step}: NOT RUN: pydantic is not installed for {sys.executable}; make gpu-wheels brings it" in done.stdout
        )


def test_a_rung_that_was_skipped_could_not_run_unless_that_was_expected() -> None:
    skipped = Rung("differential", RungStatus.SKIPPED, Reason.NO_DEVICE, "graphs need a GPU")
    verdict = Verdict("id", (Rung("build", RungStatus.PASSED), skipped))
    assert outcomes(row_of("replayed-graph.py"), verdict)["interpreter"].fits
    assert outcomes(ONE, verdict)["interpreter"] == StepResult(NOT_RUN, "graphs need a GPU", ("wrong_output",))
    assert outcomes(ONE, Verdict("id", verdict.rungs[:1]))["interpreter"].word == NOT_RUN


# on a GPU: what verdicts and figures come to


SPEEDUP = Speedup(1.5, 1.4, 1.6, 0.99, "time", 20, 20, (0.99, 1.01), "eager PyTorch", ())


def verdict_of(*rungs: Rung, timed: Outcome | None = None) -> Verdict:
    measurement = None if timed is None else Measurement(timed, SPEEDUP, 0.001)
    return Verdict("id", (Rung("build", RungStatus.PASSED), *rungs), measurement)


def test_a_wrong_answer_is_not_timed() -> None:
    verdict = verdict_of(Rung("differential", RungStatus.FAILED, Reason.WRONG_OUTPUT, "element 3"))
    assert on_gpu.judged(verdict) == {"correctness": StepResult("wrong_output", "element 3")}
    assert on_gpu.word_of(verdict, ("wrong_output",)).fits
    assert not on_gpu.word_of(verdict, RIGHT).fits


def test_a_right_answer_is_timed() -> None:
    faster = verdict_of(Rung("measure", RungStatus.PASSED), timed=Outcome.FASTER)
    slower = verdict_of(Rung("measure", RungStatus.FAILED, Reason.SLOWER, "0.1x"), timed=Outcome.SLOWER)
    assert {step: one.word for step, one in on_gpu.judged(faster).items()} == {
        "correctness": "right",
        "timing": "faster",
    }
    assert on_gpu.word_of(faster, RIGHT).word == "improved"
    assert on_gpu.word_of(slower, ("slower",)).fits


TIMED = TimedInput("size 1", 100, 3e-6, ModuleCost(0, 4_800_000, 0, 1, "float32", "NVIDIA H200"))
PLACE = Circumstances("a CPU", {}, "CPython 3.12", {}, None, (TIMED,))


def test_shares_of_the_roofline_are_of_the_call_and_of_its_kernels() -> None:
    found = on_gpu.figures(PLACE, SPEEDUP, profiling.Profiled("ncu", 1.25e-6, 1))
    assert (found.eager, found.compiled) == ("1.50x (1.40 to 1.60)", "")
    assert found.call == pytest.approx(0.5, rel=0.02)  # 4.8 MB at 4.8 TB/s take 1 us, and the call takes 2
    assert found.kernels == pytest.approx(0.8, rel=0.02)
    assert on_gpu.figures(PLACE, None, None) == Figures()


def test_what_was_not_timed_reads_so() -> None:
    verdict = verdict_of(Rung("measure", RungStatus.SKIPPED, Reason.NO_DEVICE, "no GPU"))
    assert on_gpu.judged(verdict)["timing"] == StepResult(NOT_RUN, "no GPU")
    assert on_gpu.word_of(verdict, RIGHT).word == NOT_RUN
    caught = verdict_of(Rung("measure", RungStatus.FAILED, Reason.CHEATING, "two clocks"))
    assert on_gpu.judged(caught)["timing"] == StepResult("cheating", "two clocks")


# profiles


PAGE = """==PROF== Connected to process 7
"ID","Kernel Name","Grid Size","gpu__time_duration.sum"
"","","","us"
"0","rmsnorm","(256, 1, 1)","1,002.5"
"1","rmsnorm","(256, 1, 1)","7.5"
"""


def test_the_page_of_nsight_compute_tells_time_and_launches() -> None:
    found = profiling.by_ncu(PAGE)
    assert (found.source, found.launches, round(found.seconds, 9)) == ("ncu", 2, 0.00101)
    with pytest.raises(UsageError, match="duration"):
        profiling.by_ncu(PAGE.replace('"us"', '"furlongs"'))
    with pytest.raises(UsageError, match="not permitted"):
        profiling.by_ncu("==ERROR== ERR_NVGPUCTRPERM")


def test_a_line_of_torchs_profiler_tells_time_and_launches() -> None:
    found = profiling.by_torch('noise\n{"calls": 20, "launches": 40, "seconds": 0.0002}\n')
    assert (found.source, found.launches, found.seconds) == ("torch profiler", 2, 0.00001)
    for said in ("", "noise", "{}", '{"calls": 0}', '{"calls": 20, "launches": 0, "seconds": 0.0}'):
        with pytest.raises(UsageError):
            profiling.by_torch(said)


@pytest.mark.corpus
@needs_torch
def test_the_profiled_program_calls_an_answer_in_a_process_of_its_own(tmp_path: Path) -> None:
    problem = ONE.problem.read_text()
    (tmp_path / "problem.py").write_text(problem)
    (tmp_path / "answer.py").write_text(problem.replace("class Model(", "class ModelNew("))
    command = [sys.executable, "-s", "-m", profiled.__name__, str(tmp_path), "answer.py", str(tmp_path / "problem.py")]
    with pytest.raises(UsageError, match="no kernel"):
        profiling.by_torch(profiling.run([*command, "cpu", "many"]))
    with pytest.raises(UsageError, match="exit code 1: FileNotFoundError"):
        profiling.run([*command[:-1], "missing.py", "cpu", "many"])


# the report


def found_on_gpu(row: Row, word: str) -> AnswerResult:
    figures = Figures("1.50x (1.40 to 1.60)", "1.10x (1.05 to 1.15)", 0.031, 0.42)
    steps = {"correctness": StepResult("right"), "profile": StepResult("ncu", "1 launches, 4.0 us on the device; more")}
    return AnswerResult(row, steps, StepResult(word, expected=row.expected), figures)


GOOD = row_of("rmsnorm/triton.py")


def test_lines_say_what_was_not_as_it_must_be_and_what_was_not_run() -> None:
    found = [
        AnswerResult(ONE, {"build": StepResult("passed", expected=("passed",))}),
        unrun(GOOD, ("build",), "no\ntool"),
    ]
    assert list(report.step_lines("build", found)) == [
        "build: 1 of 1 answers as expected",
        "build: NOT RUN for 1 answers: no tool",
    ]
    assert list(report.verdict_lines([found_on_gpu(ONE, "improved")])) == [
        "verdicts: 0 of 1 answers as expected",
        "  rmsnorm, triton, wrong: half-precision: expected wrong_output, got improved",
    ]


def test_only_a_whole_run_is_complete() -> None:
    good, bad = found_on_gpu(GOOD, "improved"), found_on_gpu(ONE, "improved")
    assert report.complete([good])
    assert not report.complete([])
    assert not report.complete([good, bad])
    assert not report.complete([good, unrun(ONE, ("build",), "no tool")])


def test_a_row_of_the_table() -> None:
    line = report.table([found_on_gpu(GOOD, "improved")])[2]
    assert [cell.strip() for cell in line.strip("|").split("|")] == [
        "rmsnorm", "triton", "good", "right", "improved", "-", "-", "1.50x (1.40 to 1.60)", "1.10x (1.05 to 1.15)",
        "3%", "42%", "ncu: 1 launches, 4.0 us on the device",
    ]  # fmt: skip
    assert "**improved**" in report.table([found_on_gpu(ONE, "improved")])[2]
    assert line.count("|") == report.HEADER.count("|") == report.RULE.count("|")


def test_what_is_found_on_the_device_is_put_together_with_the_rest() -> None:
    free = AnswerResult(GOOD, {"build": StepResult("passed")})
    (both,) = merged([GOOD], [free], [found_on_gpu(GOOD, "improved")])
    assert set(both.steps) == {"build", "correctness", "profile"}
    assert both.verdict is not None
    assert both.figures.call == 0.031


def test_the_page_keeps_rows_of_the_same_machine_alone(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{report.BEGIN}\nNot run.\n{report.END}\nafter\n")
    report.write("this one", [found_on_gpu(GOOD, "improved")], page)
    report.write("this one", [found_on_gpu(ONE, "wrong_output")], page)
    text = page.read_text()
    assert text.startswith(f"before\n{report.BEGIN}\nMachine: this one\n\nDate: 2")
    assert text.endswith(f"{report.END}\nafter\n")
    assert "Not run." not in text
    assert [line.split(" | ")[2] for line in text.splitlines() if line.startswith("| rmsnorm")] == [
        "good",
        "wrong: half-precision",
    ]
    report.write("another", [found_on_gpu(ONE, "wrong_output")], page)
    assert len([line for line in page.read_text().splitlines() if line.startswith("| rmsnorm")]) == 1


def test_the_page_of_the_manual_has_its_place() -> None:
    text = report.PAGE.read_text()
    assert text.count(report.BEGIN) == text.count(report.END) == 1
    between = text.partition(report.BEGIN)[2].partition(report.END)[0].strip()
    assert between == "Not run: no answer has been timed to a verdict yet." or between.startswith(report.FIRST)
