"""``whet audit``, and what becomes of a workload that candidates pass which do no work: real sandbox, real targets."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import whet as library
from whet.benchmarks import audits
from whet.benchmarks.tasks import hpc_names, reasons, task_folder, task_names
from whet.core.audit import Audit, MutantOutcome, NullOutcome, Rate
from whet.core.errors import UsageError
from whet.core.events import Event
from whet.core.options import Options
from whet.core.result import Status, TaskName
from whet.core.verdict import Reason
from whet.evaluators.mutants.registry import mutants
from whet.evaluators.targets import read_task

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")

TARGET = """\
def largest(items, least):
    best = least
    for item in items:
        if item > best:
            best = item
    return best
"""
COUNTING = """\
def largest(items, least):
    i = 0
    while i < len(items):
        least = max(least, items[i])
        i += 1
    return least
"""
STRONG = """\
sizes = [1, 4000, 8000]
def make_input(size, rng):
    return [rng.randrange(-10**6, 10**6) for _ in range(size)], rng.randrange(-10**6, 10**6)
"""
CONSTANT = """\
sizes = [1, 4000, 8000]
def make_input(size, rng):
    return [rng.randrange(100) for _ in range(size)], 10**6
"""
VARIED = f"""\
{CONSTANT}
def make_input_low(size, rng):
    return [rng.randrange(100) for _ in range(size)], rng.randrange(50)
"""
BARRED = f"""\
{CONSTANT}
def valid(args):
    items, least = args
    return least == 10**6 and all(item < least for item in items)
"""


def write(folder: Path, workload: str, target: str = TARGET) -> str:
    (folder / "target.py").write_text(target)
    (folder / "workload.py").write_text(workload)
    return f"{folder}/target.py::largest"


@pytest.mark.corpus
def test_a_strong_workload_passes_and_its_mutants_are_killed(tmp_path: Path) -> None:
    heard: list[Event] = []
    found = library.audit(write(tmp_path, STRONG), mutants=50, seed=5, listener=heard.append)
    assert found.exit_code == 0
    assert found.accepted == ()
    assert len(found.mutants) == found.made > 5
    assert found.killed.share >= 0.8
    assert set(found.by_rung) == {"differential"}
    done = [event for event in heard if event.data.get("state") == "done"]
    assert {event.data["candidate"] for event in done} == {mutant.id for mutant in found.mutants}


@pytest.mark.corpus
def test_a_survivor_is_printed_with_its_diff_and_a_null_candidate_that_passes_ends_in_5(whet, tmp_path: Path) -> None:
    target = write(tmp_path, BARRED)
    done = whet("audit", target, "--mutants", "3", "--seed", "1")
    assert done.returncode == 5, done.stderr
    assert "constant      accepted" in done.stdout
    assert "the oracle is empty: " in done.stdout
    assert "draw inputs whose answers differ" in done.stdout
    assert "added because echo, identity, constant, stale passed the first" in done.stdout
    assert "survivor 1: " in done.stdout
    assert "--- a/target.py" in done.stdout
    assert "Traceback" not in done.stderr


@pytest.mark.corpus
def test_the_document(whet, tmp_path: Path) -> None:
    target = write(tmp_path, STRONG)
    words = ("audit", target, "--mutants", "3", "--seed", "9", "--json")
    done = whet(*words)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["schema"] == "whet.audit/1"
    assert document["task"]["name"] == "largest"
    assert {null["name"]: null["status"] for null in document["nulls"]} == {
        "none": "rejected", "zeros": "rejected", "ones": "rejected", "empty": "rejected", "echo": "rejected",
        "identity": "rejected", "constant": "rejected", "stale": "rejected", "swallow": "not_applicable",
    }  # fmt: skip
    assert document["mutants"]["tried"] == 3
    assert document["mutants"]["made"] > 5
    assert (
        sum(document["mutants"]["by_rung"].values()) + len(document["survivors"]) == document["mutants"]["killed"]["of"]
    )
    again = json.loads(whet(*words).stdout)
    assert again["nulls"] == document["nulls"]
    assert again["mutants"]["made"] == document["mutants"]["made"]


@pytest.mark.corpus
def test_own_tests_are_a_rung_of_their_own(tmp_path: Path) -> None:
    target = write(tmp_path, STRONG)
    (tmp_path / "test_target.py").write_text(
        "from target import largest\ndef test_it():\n    assert largest([1, 7, 3], 2) == 7\n"
    )
    found = library.audit(target, mutants=2, tests="pytest -q test_target.py", seed=2)
    assert found.by_rung.get("test", 0) > 0


@pytest.mark.corpus
def test_mutants_that_never_end_are_killed_by_the_clock(tmp_path: Path) -> None:
    found = library.audit(write(tmp_path, STRONG, COUNTING), mutants=40, seed=1)
    endless = [mutant for mutant in found.mutants if mutant.reason is Reason.TIMEOUT]
    assert endless
    assert all(mutant.killed_by == "differential" and mutant.usual for mutant in endless)


@pytest.mark.corpus
@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
def test_a_c_program_and_its_mutants_that_do_not_compile(tmp_path: Path) -> None:
    (tmp_path / "sum.c").write_text(
        "#include <stdio.h>\n"
        'int main(void) { int x, s = 0; while (scanf("%d", &x) == 1) s += x; printf("%d\\n", s); }\n'
    )
    (tmp_path / "workload.py").write_text(
        "sizes = [1, 10, 30000]\n"
        "def make_input(size, rng):\n    return ' '.join(str(rng.randrange(-999, 999)) for _ in range(size))\n"
    )
    found = library.audit(str(tmp_path / "sum.c"), mutants=10, seed=3)
    assert found.exit_code == 0
    assert found.killed.hits > 0
    assert {mutant.killed_by for mutant in found.mutants} <= {"build", "differential", None}


@pytest.mark.corpus
def test_verify_refuses_an_oracle_that_a_null_candidate_passes(whet, tmp_path: Path) -> None:
    target = write(tmp_path, BARRED)
    (tmp_path / "same.py").write_text(TARGET)
    done = whet("verify", target, "--candidate", tmp_path / "same.py", "--until", "differential")
    assert done.returncode == 5
    (line,) = done.stderr.strip().splitlines()
    assert "constant" in line
    assert "make_input" in line
    assert "added because" in line


@pytest.mark.corpus
def test_verify_strengthens_the_inputs_first_and_says_so(tmp_path: Path) -> None:
    target = write(tmp_path, VARIED)
    (tmp_path / "same.py").write_text(TARGET + "# the same\n")
    heard: list[Event] = []
    result = library.verify(
        target, candidate=tmp_path / "same.py", until="differential", home=tmp_path / "home", listener=heard.append
    )
    assert result.status is Status.NO_IMPROVEMENT
    rung = next(rung for rung in result.rungs if rung.name == "differential")
    assert "added because" in rung.evidence["strengthened"]
    assert any("added because" in event.text for event in heard)


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--mutants", "-1"), "--mutants -1 is negative"),
        (("--mutants", "x"), "--mutants"),
        (("--workload", "nothing.py"), "no such file"),
    ],
)
def test_bad_input_is_one_line_and_2(whet, tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    done = whet("audit", write(tmp_path, STRONG), *words)
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert done.stdout == ""


def test_an_unknown_option_of_the_library_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="negative"):
        library.audit(write(tmp_path, STRONG), mutants=-5)


@pytest.mark.corpus(one_in=8)
def test_a_baseline_that_cannot_be_used_is_5(whet, tmp_path: Path) -> None:
    done = whet("audit", write(tmp_path, STRONG, "def largest(items, least):\n    return items[10**9]\n"))
    assert done.returncode == 5
    assert "IndexError" in done.stderr


def test_figures_count_what_ran() -> None:
    def outcome(killed_by: str | None, usual: bool | None) -> MutantOutcome:
        return MutantOutcome("id", "constant", 1, "", killed_by, Reason.WRONG_OUTPUT if killed_by else None, usual)

    tried = (outcome("build", None), outcome("test", True), outcome("differential", False), outcome(None, False))
    found = Audit(TaskName("t", "python", "t"), 1, (NullOutcome("none", 2, 2),), "", 9, tried, 1.0)
    assert (found.killed, found.usual) == (Rate(2, 3), Rate(1, 3))
    assert found.by_rung == {"test": 1, "differential": 1}
    assert found.exit_code == 5
    assert found.to_json()["mutants"]["stillborn"] == 1


def test_a_rate_of_nothing_says_nothing() -> None:
    assert Rate(0, 0).bounds == (0.0, 1.0)


EXCUSED = {audits.TASKS / id for id in audits.LITERATURE} | {task_folder(one) for one in (*task_names(), *hpc_names())}


@pytest.mark.exhaustive
@pytest.mark.parametrize("folder", sorted(EXCUSED), ids=lambda folder: folder.name)
def test_every_excuse_is_of_a_mutant_that_there_is_and_has_a_reason(folder: Path) -> None:
    target = folder if (folder / "whet.toml").is_file() else folder / "problem.py"
    made = {mutant.id for mutant in mutants(read_task(str(target), Options()), 1)}
    for mutant, reason in reasons(folder).items():
        assert mutant in made
        assert len(reason.split()) >= 5
