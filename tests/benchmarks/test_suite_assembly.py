"""Guaranteed Guess and SuperCoder: programs of our own in their formats, built and run in the sandbox."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest
from suite_rows import row, wrong

from whet.benchmarks.lab.base import Lab
from whet.benchmarks.results import Own
from whet.benchmarks.suites.base import NoTarget, Unusable
from whet.benchmarks.suites.guaranteed_guess import SUITE as GUESS
from whet.benchmarks.suites.supercoder import SUITE as CODER
from whet.benchmarks.suites.supercoder import SuperCoder
from whet.core.errors import UsageError
from whet.core.options import Options
from whet.evaluators.targets import read_task
from whet.sandbox.toolchains.isas import ISAS

SUM = (
    '#include <stdio.h>\nint main(void) { long n, t = 0; if (scanf("%ld", &n) != 1) return 1;\n'
    'for (long i = 0; i <= n; i++) t += i; printf("%ld\\n", t); return 0; }\n'
)
needs_arm = pytest.mark.skipif(ISAS["aarch64"].lacking() is not None, reason="no cross compiler or qemu for AArch64")


def compiled(text, *flags, compiler="gcc"):
    words = [compiler, "-S", "-x", "c", *flags, "-o", "-", "-"]
    return subprocess.run(words, input=text, text=True, capture_output=True, check=True, timeout=60).stdout


@pytest.fixture(scope="module")
def lab():
    if shutil.which("bwrap") is None or shutil.which("gcc") is None:
        pytest.skip("bubblewrap or gcc is not installed")
    made = Lab(Options(sandbox="bubblewrap"))
    yield made
    made.close()


# SuperCoder


@pytest.fixture
def rows(tmp_path):
    """Writes rows with what differs from a good one."""

    def write(*changes):
        lines = []
        for number, one in enumerate(changes):
            info = {
                "index": number, "c_code": SUM, "unoptimized_assembly": f"```assembly\n{compiled(SUM, '-O0')}```",
                "answer": compiled(SUM, "-O3"), "inputs": ["10\n", "3\n"], "outputs": ["55\n", "6\n"], **one,
            }  # fmt: skip
            lines.append(json.dumps({"data_source": "train", "extra_info": info}))
        (tmp_path / "rows.jsonl").write_text("\n".join(lines) + "\n")
        return tmp_path

    return write


def test_rows_of_supercoder_are_read_and_the_bad_ones_told(rows):
    reading = CODER.read(rows({}, {"index": 0}, {"outputs": ["1"]}, {"c_code": 3}, {"index": None}))

    (problem,) = reading.problems
    assert (problem.id, problem.language) == ("0", "asm")
    assert "```" not in problem.unchanged
    assert [one.partition(":")[0] for one in reading.faults] == [f"rows.jsonl, row {n}" for n in range(2, 6)]


def test_no_rows_of_supercoder(tmp_path):
    with pytest.raises(UsageError, match="no rows"):
        CODER.read(tmp_path)


@pytest.mark.corpus
def test_programs_of_supercoder_are_run_and_timed(rows, lab):
    (problem,) = CODER.read(rows({})).problems
    suite = SuperCoder(runs=2)

    right = suite.judge(problem, f"```assembly\n{compiled(SUM, '-O2')}```", lab)
    same = suite.judge(problem, problem.unchanged, lab)
    off = suite.judge(problem, compiled(SUM.replace("t = 0", "t = 1"), "-O2"), lab)
    broken = suite.judge(problem, "no such instruction\n", lab)

    assert right.passed, right.reason
    assert right.figures["speedup"] >= 1.0
    assert same.figures["ratios"] == [1.0]
    assert "prints something else" in off.reason
    assert "does not build" in broken.reason


def test_a_row_of_supercoder_whose_own_program_fails_is_excluded(rows, lab):
    (problem,) = CODER.read(rows({"outputs": ["55\n", "7\n"]})).problems
    with pytest.raises(Unusable, match="input 1"):
        CODER.judge(problem, compiled(SUM), lab)


def test_supercoders_score_counts_wrong_answers_as_no_gain():
    score = CODER.score([row("s", "a", 0, Own(True, "", {"speedup": 3.0})), row("s", "b", 0, wrong())])
    assert {figure.name: figure.value for figure in score.figures} == {"speedup@1": 2.0, "passing": 50.0}
    assert score.failed == 1


def test_a_target_of_supercoder_is_one_of_whets_whole_programs(rows, tmp_path):
    (problem,) = CODER.read(rows({})).problems
    folder = tmp_path / "target"
    folder.mkdir()
    task = read_task(CODER.write_target(problem, folder), Options())
    assert (task.language, task.isa, task.source) == ("asm", "x86_64", problem.unchanged)


# Guaranteed Guess


MAIN = '#include "libmin.h"\nint main(int argc, char **argv) { libmin_puts(argc > 1 ? argv[1] : "none"); return 0; }\n'


@pytest.fixture
def bench(tmp_path):
    """A Bringup-Bench of our own with one program, which is run with a word."""
    files = {
        "common/libmin.h": "void libmin_puts(const char *s);\n",
        "common/libmin_puts.c": '#include "libtarg.h"\nvoid libmin_puts(const char *s) { out(s); }\n',
        "target/libtarg.h": "void out(const char *s);\n",
        "target/libtarg.c": '#include <stdio.h>\n#include "libtarg.h"\nvoid out(const char *s) { puts(s); }\n',
        "say/say.c": MAIN,
        "say/say.out": "words\n",
        "say/Makefile": "LOCAL_OBJS=say.o\n\ntest: $(TARGET_EXE)\n\t-$(TARGET_SIM) ./$(TARGET_EXE) words > FOO \n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_programs_of_bringup_bench_are_read(bench):
    (problem,) = GUESS.read(bench).problems
    assert (problem.id, problem.data["words"], problem.data["objects"]) == ("say", ["words"], [])
    with pytest.raises(NoTarget):
        GUESS.write_target(problem, bench)


@pytest.mark.parametrize("makefile", ["LOCAL_OBJS=say.o\n", "LOCAL_OBJS=say.o ../../x.o\n", ""])
def test_makefiles_that_say_too_little_or_too_much(bench, makefile):
    run = "" if makefile == "LOCAL_OBJS=say.o\n" else "\t-$(TARGET_SIM) ./$(TARGET_EXE) > FOO\n"
    (bench / "say" / "Makefile").write_text(makefile + run)
    with pytest.raises(UsageError, match="no program"):
        GUESS.read(bench)


def test_no_bringup_bench(tmp_path):
    with pytest.raises(UsageError, match="no common"):
        GUESS.read(tmp_path)


@needs_arm
@pytest.mark.corpus(one_in=8)
def test_translations_are_linked_and_run(bench, lab):
    (problem,) = GUESS.read(bench).problems
    translated = compiled(MAIN, f"-I{bench}/common", compiler="aarch64-linux-gnu-gcc")

    assert GUESS.judge(problem, problem.unchanged, lab).passed
    assert GUESS.judge(problem, translated, lab).passed
    assert (
        "something else" in GUESS.judge(problem, translated.replace("none", "some").replace("ble", "bgt"), lab).reason
    )
    assert "does not build" in GUESS.judge(problem, ".text\nno such instruction\n", lab).reason


@needs_arm
def test_a_program_that_fails_here_is_excluded(bench, lab):
    (bench / "say" / "say.out").write_text("other words\n")
    (problem,) = GUESS.read(bench).problems
    with pytest.raises(Unusable, match="own program fails"):
        GUESS.judge(problem, ".text\n", lab)


def test_predictions_of_guaranteed_guess(tmp_path):
    file = tmp_path / "results.json"
    file.write_text('{"files": ["say.s"], "pred": [".text"]}')
    assert GUESS.answers(file, []) == {("say", 0): ".text"}
    file.write_text('{"files": ["say.s"]}')
    with pytest.raises(UsageError, match="one length"):
        GUESS.answers(file, [])


def test_the_score_of_guaranteed_guess_keeps_failures():
    score = GUESS.score([row("g", "a", 0, Own(True)), row("g", "b", 0, wrong())])
    assert (score.figures[0].name, score.figures[0].value, score.failed) == ("accuracy@1", 50.0, 1)
