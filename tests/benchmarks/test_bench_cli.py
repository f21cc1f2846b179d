"""``whet bench``: list, fetch-help, run and score as a user meets them."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest
from test_bench_rows import HERE, HOSTILE, RESULT, row, written
from tiny_suite import TinySuite

from whet.benchmarks.results import Machine, Own
from whet.benchmarks.runner.request import ProblemSample
from whet.benchmarks.runner.rows import line_of as row_line
from whet.benchmarks.runner.rows import read_rows
from whet.benchmarks.runner.run import Done
from whet.benchmarks.runner.standings import scored
from whet.benchmarks.self import bench as self_bench
from whet.benchmarks.suites.registry import MODULES, suite_named
from whet.cli.bench_progress import line_of, status_of
from whet.cli.bench_tables import table
from whet.cli.main import main
from whet.core.errors import UsageError
from whet.core.options import Options

sandboxed = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")


@pytest.fixture
def here(capsys):
    """The command line in this process, for what begins no work: returns exit code, stdout and stderr."""

    def call(*words):
        code = main([str(word) for word in words])
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


def refused(done, *words):
    code, _, said = done
    assert code == 2, said
    assert len(said.splitlines()) == 1
    for word in words:
        assert word in said


def test_list_names_every_suite_and_what_it_needs(here):
    _, shown, _ = here("bench", "list")
    rows = json.loads(here("bench", "list", "--json")[1])
    assert [one["suite"] for one in rows] == sorted(MODULES)
    for one in rows:
        assert one["status"] in ("real data read", "published score reproduced", "format only")
        assert one["suite"] in shown
        assert one["source"]


def test_each_suite_is_named_as_the_registry_has_it():
    for name in MODULES:
        suite = suite_named(name)
        assert suite.name == name
        assert suite.title
    with pytest.raises(UsageError, match="did you mean 'kernelbench'"):
        suite_named("kernelbnch")


@pytest.mark.corpus(one_in=8)
def test_what_cannot_be_run_is_one_line(here, tmp_path):
    refused(here("bench", "run", "whetbnch"), "did you mean 'whetbench'")
    refused(here("bench", "run", "kernelbench"), "--root DIR", "whet bench fetch-help kernelbench")
    refused(here("bench", "run", "kernelbench", "--root", tmp_path / "missing"), "no such folder")
    refused(here("bench", "run", "kernelbench", "--root", tmp_path), "holds no problem of KernelBench")
    refused(here("bench", "run", "whetbench", "--ids", "dedup-evnts"), "did you mean 'dedup-events'")
    refused(here("bench", "run", "whetbench", "--model", "unchangd"), "unknown model")
    refused(here("bench", "run", "whetbench", "--model", "manual:answers"), "a suite takes many")
    refused(here("bench", "run", "whetbench", "--model", "unchanged", "--no-verdict"), "leave out --no-verdict")
    refused(here("bench", "score", tmp_path / "missing"), "no such file")
    (tmp_path / "other.json").write_text("{}")
    refused(here("bench", "score", tmp_path / "other.json"), "holds neither rows")


def test_fetch_help_says_where_to_get_data_and_checks_it(here, tmp_path):
    told = here("bench", "fetch-help", "kernelbench")[1]
    assert "https://github.com/ScalingIntelligence/KernelBench" in told
    level = tmp_path / "level1"
    level.mkdir()
    (level / "1_Broken.py").write_text("class Model:")
    refused(here("bench", "fetch-help", "kernelbench", "--root", tmp_path), "holds no problem")
    (level / "2_Empty.py").write_text("class Model: 1\ndef get_inputs(): 1\ndef get_init_inputs(): 1\n")
    told = here("bench", "fetch-help", "kernelbench", "--root", tmp_path)[1]
    assert "found     1 problem in level1\n" in told
    assert "fault     level1/1_Broken.py: no problem" in told


@pytest.mark.corpus
@sandboxed
def test_a_run_is_scored_and_goes_on(whet, tmp_path):
    words = ("bench", "run", "whetbench", "--ids", "dedup-events", "--until", "differential", "--seed", "7")
    words += ("-o", tmp_path / "rows.jsonl")
    done = whet(*words, "--model", "known-best")
    assert done.returncode == 0, done.stderr
    assert "[1/1] dedup-events #0" in done.stdout
    assert "passes; whet: no_improvement" in done.stdout
    again = whet(*words, "--model", "known-best", "--export", tmp_path / "own")
    assert "1 row done before" in again.stdout
    assert "whetbench has no format of results but the rows" in again.stdout
    (found,) = read_rows(tmp_path / "rows.jsonl").rows
    assert (found.model, found.own.passed, found.own.figures["speedup"]) == ("known-best", True, 1.0)
    assert (tmp_path / "rows.evidence" / f"{found.evidence}.zip").is_file()
    assert found.machine.cores == len(os.sched_getaffinity(0))
    shown = whet("bench", "score", tmp_path / "rows.jsonl").stdout
    assert "known-best" in shown
    document = json.loads(whet("bench", "score", "--json", tmp_path / "rows.jsonl").stdout)
    assert document["schema"] == "whet.bench.score/1"
    (standing,) = document["standings"]
    assert (standing["suite"], standing["rows"], standing["unproved"]) == ("whetbench", 1, 0)


@pytest.mark.corpus
@sandboxed
def test_an_interrupt_leaves_a_file_that_a_printed_command_goes_on_with(whet, tmp_path):
    file = tmp_path / "rows.jsonl"
    ids = ["dedup-events", "tidy-text", "word-counts"]
    words = ["bench", "run", "whetbench", "--ids", ",".join(ids), "--model", "unchanged", "--until", "build"]
    command = [sys.executable, "-m", "whet", *words, "-o", str(file)]
    process = subprocess.Popen(
        command, env=whet.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not (file.exists() and file.stat().st_size):
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert said.splitlines()[-1] == f"interrupted; resume with: whet {' '.join(words)} -o {file}"
    assert whet(*words, "-o", file).returncode == 0
    assert sorted(one.problem for one in read_rows(file).rows) == ids


def test_rows_of_unlike_machines_are_told_apart(tmp_path):
    other = Machine("another processor", 64, "a GPU", "docker", "a system", "1.0")
    written(tmp_path / "a.jsonl", row("dedup-events", result=RESULT), row("tidy-text", own=Own(False, "wrong")))
    written(tmp_path / "b.jsonl", row("dedup-events", model="n", machine=other, data="another revision"))
    found = scored([tmp_path / "a.jsonl", tmp_path / "b.jsonl"])
    lines = list(table(found))
    assert [one.model for one in found.standings] == ["m", "n"]
    assert "warning: whetbench: rows of unlike machines" in "\n".join(lines)
    assert [line for line in lines if ", on " in line] == [
        "whetbench: speedup, on a processor, 2 cores",
        "whetbench: speedup, on another processor, 64 cores, a GPU",
    ]
    assert "warning: whetbench: rows of different revisions of the suite's data" in lines
    assert "  m: 1 row of 2 without evidence" in lines
    assert HERE.kind == "a processor, 2 cores"
    with pytest.raises(UsageError, match="a row of the same answer"):
        scored([tmp_path / "a.jsonl", tmp_path / "a.jsonl"])


def test_the_same_answer_on_two_machines_has_two_scores(tmp_path):
    other = Machine("another processor", 64, "", "docker", "a system", "1.0")
    faster = {**RESULT, "speedup": {**RESULT["speedup"], "ratio": 9.0}}
    answers = [row("dedup-events", own=Own(True, "", {"speedup": 2.0}), result=RESULT)]
    answers.append(row("dedup-events", own=Own(True, "", {"speedup": 9.0}), result=faster, machine=other))
    for name, one in zip(("a.jsonl", "b.jsonl"), answers, strict=True):
        written(tmp_path / name, one)
    found = scored([tmp_path / "a.jsonl", tmp_path / "b.jsonl"])
    assert [(one.machine, one.rows, one.headline.value) for one in found.standings] == [
        (HERE.kind, 1, pytest.approx(RESULT["speedup"]["ratio"])),
        (other.kind, 1, pytest.approx(9.0)),
    ]


def test_a_score_survives_strange_rows_and_shows_them_escaped(tmp_path):
    file = tmp_path / "rows.jsonl"
    written(file, row(HOSTILE, model=HOSTILE, excluded=HOSTILE), row("p1", model=HOSTILE, own=None))
    with file.open("ab") as out:
        out.write(b"rubbish\n" + row_line(row("torn"))[:50])
    shown = "\n".join(table(scored([file])))
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "is excluded" in shown
    assert "line 3: no JSON" in shown
    written(tmp_path / "odd.jsonl", row(suite="kernelbench", own=Own(True, "", {"speedup": "fast"})))
    with pytest.raises(UsageError, match="hold other figures"):
        scored([tmp_path / "odd.jsonl"])


def test_progress_is_a_line_a_problem_with_the_time_left():
    job = ProblemSample(TinySuite().problem(0), 3)
    told = {
        "could not be judged: no \\x1b[2J": Done(job, None, "no \x1b[2J", 1, 4, 61.0, 0.0),
        "excluded: it fails": Done(job, row(excluded="it fails"), "", 1, 4, 4000.0, 0.25),
        "no answer": Done(job, row(own=None), "", 1, 4, 5.0, 0.0),
        "fails: wrong  1.0 s": Done(job, row(own=Own(False, "wrong")), "", 1, 4, 5.0, 0.0),
        "passes; whet: improved 2.00x  1.0 s": Done(job, row(result=RESULT), "", 1, 4, 5.0, 0.0),
    }
    for words, done in told.items():
        assert line_of(done).startswith("[1/4] p0 #3 ")
        assert line_of(done).endswith(words)
    assert [status_of(done) for done in list(told.values())[:3]] == [
        "1 of 4 done, 1 min 01 s left",
        "1 of 4 done, 1 h 06 min left, 0.2500 USD",
        "1 of 4 done, 5 s left",
    ]


@pytest.mark.corpus
@sandboxed
def test_the_harness_measures_itself():
    wall, ladder = self_bench.overhead(["dedup-events"], Options(until="build"))
    assert 0 < ladder < wall
    assert self_bench.scoring(3, 2) > 0


def test_a_board_of_made_rows_shows_every_one_of_them():
    seconds, weight = self_bench.building(3, 2)
    assert seconds > 0
    assert 5 < weight < self_bench.WEIGHT_GOAL
