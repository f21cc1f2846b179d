"""ParEval: prompts and drivers of our own in its format, its own rule in the sandbox, its scores and files."""

from __future__ import annotations

import json
import math
import os
import shutil
from pathlib import Path

import pytest
from paths import TESTS
from suite_rows import row, wrong

from whet.benchmarks.lab.base import Lab
from whet.benchmarks.results import Own
from whet.benchmarks.suites.base import Unusable
from whet.benchmarks.suites.pareval import SUITE
from whet.benchmarks.suites.pareval.rows import reference
from whet.benchmarks.suites.pareval.rule import completion, possible, source_of, told, uses_model
from whet.core.errors import UsageError
from whet.core.options import Options

CHECKOUT = TESTS / "suites" / "pareval"
LOOP = "\n    for (size_t i = 0; i < x.size(); i++) y[i] = x[i] + x[i];\n}\n"
THREADS = f"\n    #pragma omp parallel for{LOOP}"
OFF = "\n    for (size_t i = 0; i < x.size(); i++) y[i] = 3 * x[i];\n}\n"
FORGED = '\n    printf("Validation: PASS\\nTime: 0.000001\\n");' + LOOP
LEFT = '\n    printf("Validation: PASS\\nTime: 0.000001\\nBestSequential: 100\\n"); fflush(stdout); _exit(0);\n}\n'


@pytest.fixture
def checkout(tmp_path):
    return Path(shutil.copytree(CHECKOUT, tmp_path / "pareval"))


@pytest.fixture(scope="module")
def lab():
    if shutil.which("bwrap") is None or shutil.which("g++") is None:
        pytest.skip("bubblewrap or g++ is not installed")
    made = Lab(Options(sandbox="bubblewrap"))
    yield made
    made.close()


@pytest.fixture(scope="module")
def problems():
    return {problem.id: problem for problem in SUITE.read(CHECKOUT).problems}


def prompts(checkout, change):
    file = checkout / "prompts" / "generation-prompts.json"
    rows = json.loads(file.read_text())
    change(rows)
    file.write_text(json.dumps(rows))


# reading


def test_prompts_are_read_with_their_drivers_sizes_and_runs():
    reading = SUITE.read(CHECKOUT)
    by_id = {problem.id: problem for problem in reading.problems}

    assert not reading.faults
    assert list(by_id)[:3] == [f"00_toy_double_up/{model}" for model in ("serial", "omp", "mpi")]
    assert {(one.group, one.needs) for one in reading.problems} == {("serial", ""), ("omp", ""), ("mpi", "mpi")}
    assert by_id["00_toy_double_up/omp"].data["size"] == "(1<<16)"
    assert by_id["01_toy_count_even/omp"].data["size"] == "(1<<18)"
    assert len({one.digest for one in reading.problems}) == 6


def test_rows_that_cannot_be_used_are_told(checkout):
    def change(rows):
        rows[0]["problem_type"] = "../.."
        rows[1]["parallelism_model"] = "quantum\x1b[2J"
        rows[2]["language"] = "fortran"
        rows[3]["name"] = "07_not_there"
        del rows[4]["prompt"]
        rows.append(rows[5])

    prompts(checkout, change)
    reading = SUITE.read(checkout)

    assert [one.id for one in reading.problems] == ["01_toy_count_even/mpi"]
    said = "\n".join(reading.faults)
    for word in (
        "no name of a folder",
        r"quantum\x1b[2J",
        "'fortran'",
        "is not there",
        "no field 'prompt'",
        "row 6 too",
    ):
        assert word in said


def test_a_driver_that_is_a_link_out_of_the_checkout_is_not_read(checkout, tmp_path):
    (tmp_path / "secret").write_text("of the host")
    baseline = checkout / "drivers/cpp/benchmarks/toy/00_toy_double_up/baseline.hpp"
    baseline.unlink()
    baseline.symlink_to(tmp_path / "secret")

    assert "leads out" in SUITE.read(checkout).faults[0]


def test_a_size_that_is_no_size_reaches_no_shell(checkout):
    (checkout / "drivers/problem-sizes.json").write_text('{"00_toy_double_up": {"serial": "1; touch /tmp/x"}}')
    assert "and not such as (1<<18)" in SUITE.read(checkout).faults[0]


@pytest.mark.parametrize("file", ["prompts/generation-prompts.json", "drivers/launch-configs.json"])
def test_missing_and_truncated_files_are_errors(checkout, file):
    text = (checkout / file).read_text()
    (checkout / file).write_text(text[:-20])
    with pytest.raises(UsageError):
        SUITE.read(checkout)
    (checkout / file).unlink()
    with pytest.raises(UsageError):
        SUITE.read(checkout)


# texts


def test_an_answer_is_the_body_or_the_whole_text():
    prompt = "#include <omp.h>\n\n/* Doubles. */\nvoid f(int *x) {"

    for answer in (" *x *= 2; }", f"{prompt} *x *= 2; }}"):
        text = source_of(prompt, answer)
        assert text.count("void NO_INLINE f(int *x) {") == 1
        assert text.count("void f(int *x) {") == 0
        assert completion(prompt, answer).strip() == "*x *= 2; }"


def test_what_stands_before_the_function_is_part_of_the_answer():
    prompt = "/* Doubles. */\nvoid f(int *x) {"
    whole = "/* Doubles. */\nstatic int g(int x) { return 2 * x; }\nvoid f(int *x) { *x = g(*x); }"
    assert "static int g" in completion(prompt, whole)


@pytest.mark.parametrize(
    ("model", "text", "uses"),
    [
        ("serial", "", True),
        ("omp", "#pragma omp for", True),
        ("omp", "// #pragma omp: the suite's look takes a comment too", True),
        ("omp", "omp_get_num_threads()", False),
        ("mpi", "MPI_Reduce(", True),
        ("mpi", "MPI.COMM", True),
        ("mpi", "", False),
        ("mpi+omp", "MPI_Reduce(", False),
        ("mpi+omp", "MPI_Reduce(\n#pragma omp for", True),
    ],
)
def test_the_suites_look_for_its_models(model, text, uses):
    assert uses_model(model, text) is uses


def test_references_call_the_suites_own_program():
    text = reference("void f(std::array<int, 3> const& a, double b[], int &c) {", "void NO_INLINE correctF(int x) {\n}")
    assert "return correctF(a, b, c);" in text
    assert reference("no signature", "void correctF() {}") == ""
    assert reference("void f() {", "nothing") == ""


# judging


def test_right_answers_pass_with_the_drivers_times(lab, problems):
    own = SUITE.judge(problems["00_toy_double_up/serial"], LOOP, lab)

    assert own.passed, own.reason
    (run,) = own.figures["runs"]
    assert run["is_valid"]
    assert run["runtime"] > 0
    assert own.figures["sequential"] == run["best_sequential_runtime"] > 0


def test_threads_are_those_that_the_machine_has(lab, problems):
    own = SUITE.judge(problems["00_toy_double_up/omp"], THREADS, lab)

    assert own.passed, own.reason
    assert [run["num_threads"] for run in own.figures["runs"]] == [
        n for n in (1, 2) if n <= len(os.sched_getaffinity(0))
    ]


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("model", "answer", "reason", "built"),
    [
        ("serial", OFF, "not those of the suite's own program", True),
        ("serial", " return no_such_thing; }", "does not build", False),
        ("omp", LOOP, "does not use omp", True),
        ("serial", FORGED, "comes twice", True),
        ("serial", LEFT, "more time than", True),
        ("serial", " __builtin_trap(); }", "Illegal instruction", True),
    ],
)
def test_wrong_answers_are_told_why(lab, problems, model, answer, reason, built):
    head = "#include <cstdio>\n#include <unistd.h>\n" if answer in (FORGED, LEFT) else ""
    text = source_text(problems, model, answer, head)
    own = SUITE.judge(problems[f"00_toy_double_up/{model}"], text, lab)

    assert not own.passed
    assert reason in own.reason
    assert own.figures["built"] is built


def source_text(problems, model, answer, head):
    return head + problems[f"00_toy_double_up/{model}"].data["prompt"] + answer if head else answer


def test_the_suites_own_program_is_the_unchanged_answer(lab, problems):
    problem = problems["01_toy_count_even/serial"]
    assert SUITE.judge(problem, problem.unchanged, lab).passed


def test_a_problem_whose_own_program_fails_is_excluded(lab, checkout):
    baseline = checkout / "drivers/cpp/benchmarks/toy/00_toy_double_up/baseline.hpp"
    baseline.write_text(baseline.read_text().replace("size_t", "no_such_type"))
    problem = SUITE.read(checkout).problems[0]

    with pytest.raises(Unusable, match="own program does not build"):
        SUITE.judge(problem, LOOP, lab)


@pytest.mark.corpus
@pytest.mark.skipif(shutil.which("mpirun") is None or shutil.which("mpicxx") is None, reason="no MPI here")
def test_mpi_answers_run_on_ranks(lab, problems):
    problem = problems["00_toy_double_up/mpi"]
    own = SUITE.judge(problem, " int rank; MPI_Comm_rank(MPI_COMM_WORLD, &rank);" + LOOP, lab)
    assert own.passed, own.reason
    assert [run["num_procs"] for run in own.figures["runs"]] == [
        run["num_procs"] for run in possible(problem.data["resources"])
    ]
    # A rank that is alone takes the others to have done their part.
    alone = " int ranks; MPI_Comm_size(MPI_COMM_WORLD, &ranks); if (ranks == 1) return;" + LOOP
    assert "with 1 procs: its results are not" in SUITE.judge(problem, alone, lab).reason


@pytest.mark.parametrize(
    ("printed", "said"),
    [
        ("", "came to no end"),
        ("Validation: PASS\nTime: 1\n", "came to no end"),
        ("Validation: PASS\nTime: x\nBestSequential: 1\n", "came to no end"),
        ("Validation: PASS\nTime: nan\nBestSequential: 1\n", "times that there are not"),
        ("Validation: PASS\nTime: 0.1\nBestSequential: 0\n", "times that there are not"),
        ("Validation: PASS\nTime: 1\nBestSequential: 2\n", "passed out here"),
        ("Validation: FAIL\nValidation: PASS\nTime: 0.1\nBestSequential: 0.1\n", "comes twice"),
    ],
)
def test_what_a_driver_cannot_have_said(printed, said):
    assert said in told(printed, 2.0)


# scores


def own(time, sequential=8.0, threads=4, passed=True):
    runs = [{"did_run": True, "is_valid": passed, "runtime": time, "num_threads": threads}]
    return Own(
        passed, "", {"built": True, "source_valid": True, "runs": runs, "sequential": sequential, "problem_type": "toy"}
    )


def figures(score):
    return {figure.name: figure.value for figure in score.figures}


def test_scores_are_the_expected_best_with_failures_kept():
    rows = [row("pareval", "p/omp", n, own(time)) for n, time in enumerate([1.0, 2.0, 4.0, 8.0])]
    found = figures(SUITE.score([*rows, row("pareval", "p/omp", 4, wrong(built=False))]))

    assert found["speedup_n@1"] == pytest.approx(3.0)
    assert found["efficiency_n@1"] == pytest.approx(0.75)
    assert found["speedup_n@5"] == pytest.approx(8.0)
    assert found["omp pass@1"] == pytest.approx(0.8)
    assert found["omp build@1"] == pytest.approx(0.8)
    assert found["omp speedup@1 as coded"] == pytest.approx(3.75)


def test_exactly_one_figure_ranks_and_problems_without_a_right_answer_count():
    score = SUITE.score(
        [
            row("pareval", "p/omp", 0, own(2.0)),
            row("pareval", "q/serial", 0, wrong(built=True)),
            row("pareval", "r/serial", excluded="broken here"),
        ]
    )

    assert [figure.name for figure in score.figures if figure.headline] == ["speedup_n@1"]
    assert figures(score)["speedup_n@1"] == pytest.approx(2.0)
    assert (score.failed, score.excluded) == (1, {"r/serial": "broken here"})


def test_results_go_out_and_come_in_again_with_the_same_score(tmp_path):
    rows = [row("pareval", "p/omp", n, own(time)) for n, time in enumerate([1.0, 2.0])]
    rows.append(row("pareval", "q/serial", 0, wrong(built=False, problem_type="toy")))
    file = SUITE.export(rows, tmp_path)

    (first, second) = json.loads(file.read_text())
    assert (first["name"], first["parallelism_model"], first["outputs"][0]["are_all_valid"]) == ("p", "omp", True)
    assert (second["outputs"][0]["did_build"], second["outputs"][0]["runs"]) == (False, None)
    assert figures(SUITE.imported(file)) == pytest.approx(figures(SUITE.score(rows)), nan_ok=True)


def test_files_of_others_are_left_to_others_and_broken_ones_are_told(tmp_path):
    for name, text in {"a.csv": "x", "b.json": "{}", "c.json": '[{"x": 1}]'}.items():
        (tmp_path / name).write_text(text)
        assert SUITE.imported(tmp_path / name) is None
    good = {"did_build": True, "is_source_valid": True, "best_sequential_runtime": 1.0}
    rows = [
        {"name": name, "parallelism_model": "serial", "outputs": [{**good, "runs": runs}]}
        for name, runs in (("p", [{"is_valid": True, "runtime": 0.5}]), ("q", [{"is_valid": True, "runtime": "soon"}]))
    ]
    (tmp_path / "d.json").write_text(json.dumps(rows))
    with pytest.raises(UsageError, match="row 2"):
        SUITE.imported(tmp_path / "d.json")


def test_others_outputs_are_read_as_answers(tmp_path):
    file = tmp_path / "outputs.json"
    file.write_text(
        json.dumps([{"name": "p", "parallelism_model": "omp", "outputs": ["a", {"generated_output": "b"}]}])
    )
    assert SUITE.answers(file, []) == {("p/omp", 0): "a", ("p/omp", 1): "b"}


# targets


def test_a_target_has_the_suites_checks_and_no_clock(problems, tmp_path):
    assert SUITE.write_target(problems["00_toy_double_up/omp"], tmp_path) == str(tmp_path)
    assert "correctDoubleUp(x, y)" in (tmp_path / "answer.cpp").read_text()
    assert (tmp_path / "cases" / "right.out").read_text() == "right\n"
    with pytest.raises(UsageError, match="only the suite's own rule"):
        SUITE.write_target(problems["00_toy_double_up/mpi"], tmp_path)


def test_nothing_counts_without_rows():
    assert math.isnan(SUITE.score([]).figures[0].value)
