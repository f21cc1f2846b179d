"""Programs that a task's own commands build and run: any language, several files, a build system."""

from __future__ import annotations

import json
import shutil
from contextlib import closing
from pathlib import Path

import pytest

from whet.benchmarks import tasks
from whet.core.candidate import Candidate
from whet.core.errors import UsageError
from whet.core.options import Options
from whet.core.verdict import Reason, RungStatus
from whet.evaluators.artifacts import Builder
from whet.evaluators.counting import count
from whet.evaluators.finding import Fault
from whet.evaluators.folder import folder_texts
from whet.evaluators.hints.registry import hints
from whet.evaluators.ladder import open_ladder
from whet.evaluators.meters.base import Setting
from whet.evaluators.mutants.registry import mutants
from whet.evaluators.targets import read_task
from whet.sandbox.backends import open_sandbox
from whet.sandbox.inside.decode import decode
from whet.sandbox.interpreter import find_interpreter

TASKS = Path(tasks.__file__).parent
TOML = """
[task]
name = "adder"
language = "command"
target = "src/add.c"
[build]
command = "make -s adder"
[run]
command = "./adder"
[workload]
cases = "cases"
"""
MAKEFILE = "adder: src/add.c src/main.c src/add.h\n\tcc -O1 -o $@ src/add.c src/main.c\n"
MAIN = """
#include <stdio.h>
#include "add.h"
int main(void) { long a, b; if (scanf("%ld %ld", &a, &b) != 2) return 3; printf("%ld\\n", add(a, b)); return 0; }
"""
ADD = '#include "add.h"\nlong add(long a, long b) { for (; b > 0; b--) a++; for (; b < 0; b++) a--; return a; }\n'
FAST = '#include "add.h"\nlong add(long a, long b) { return a + b; }\n'
WRONG = '#include "add.h"\nlong add(long a, long b) { return a + b + (b == 7); }\n'


@pytest.fixture
def folder(tmp_path):
    """A C project of several files, built by make, with its recorded cases."""
    place = tmp_path / "adder"
    for name, text in {
        "whet.toml": TOML,
        "Makefile": MAKEFILE,
        "src/main.c": MAIN,
        "src/add.c": ADD,
        "src/add.h": "long add(long, long);\n",
        "cases/a.in": "3 4\n",
        "cases/a.out": "7\n",
        "cases/b.in": "3 7\n",
        "cases/c.in": "1 20000000\n",
        "best.c": FAST,
        ".hidden": "x",
        "src/__pycache__/a.txt": "x",
    }.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)
    (place / "old.o").write_bytes(b"\xff\xfe\x00")
    return place


@pytest.fixture
def builder(folder):
    """A builder of the task in that folder."""
    if shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    sandbox = open_sandbox("bubblewrap", False)
    yield Builder(read_task(str(folder), Options()), sandbox, find_interpreter(None))
    sandbox.close()


def outcome(artifact, stdin):
    with closing(artifact.start()) as process:
        answer = process.call(stdin, 10.0)
    return answer if isinstance(answer, Fault) else decode(answer[0])


def test_a_task_takes_the_texts_of_its_folder_along_and_nothing_of_the_oracle(folder):
    task = read_task(str(folder), Options())

    assert task.filename == "src/add.c"
    assert set(task.support) == {"Makefile", "src/main.c", "src/add.h"}
    assert (task.commands.build, task.commands.run) == ("make -s adder", "./adder")
    assert task.written == "c"


def test_candidates_are_built_by_the_command_and_run_on_stdin(builder):
    for source in (ADD, FAST):
        assert outcome(builder.build(source), b"3 4\n")[:2] == (0, b"7\n")
    assert outcome(builder.build(FAST), b"none")[0] == 3


@pytest.mark.corpus
@pytest.mark.parametrize("name", ["relax-grid", "heat-plate"])
def test_whets_own_tasks_and_their_best_versions_agree(builder, name):
    tool, package = {"relax-grid": ("javac", "default-jdk-headless"), "heat-plate": ("gfortran", "gfortran")}[name]
    if shutil.which(tool) is None:
        pytest.skip(f"no {tool}: apt-get install {package}")
    folder = TASKS / "command" / name
    task = read_task(str(folder), Options())
    (best,) = folder.glob("best.*")
    own = Builder(task, builder.sandbox, builder.interpreter)
    slow, fast = (outcome(own.build(text), b"3 5\n1 2 3\n4 5 6\n7 8 -9\n") for text in (task.source, best.read_text()))

    assert best.name.removeprefix("best.") == task.path.suffix.removeprefix(".")
    assert not [path for path in task.support if path.startswith("best")]
    assert slow[:2] == fast[:2]
    assert (slow[0], len(slow[1].split())) == (0, 3)


def test_a_build_that_fails_says_what_the_command_said(builder):
    built = builder.build("long add(long a, long b) { return a + ; }\n")

    assert isinstance(built, Fault)
    assert built.reason is Reason.BUILD_ERROR
    assert "add.c" in built.detail


@pytest.mark.corpus(one_in=8)
def test_the_verdicts_of_right_and_wrong_candidates(folder):
    task = read_task(str(folder), Options())
    with closing(open_ladder(task, Options(until="differential", seed=1), 1)) as ladder:
        ladder.validate()
        right, wrong = ladder.check(Candidate(FAST)), ladder.check(Candidate(WRONG))

    assert all(rung.status in (RungStatus.PASSED, RungStatus.SKIPPED) for rung in right.rungs)
    assert wrong.rungs[-1].reason is not Reason.BUILD_ERROR
    assert not wrong.correct


@pytest.mark.corpus
def test_the_evidence_of_a_verdict_repeats_it(whet, folder, tmp_path):
    for case in ("a", "c"):
        (folder / "cases" / f"{case}.in").write_text("3 60000000\n")
        (folder / "cases" / f"{case}.out").unlink(missing_ok=True)
    told = whet("verify", folder, "--candidate", folder / "best.c", "--until", "differential", "--json")
    bundle = tmp_path / "evidence.zip"
    whet("runs", "export", json.loads(told.stdout)["run"], "--evidence", bundle)

    again = whet("verify", "--evidence", bundle)
    assert "all that was compared agrees" in again.stdout, again.stderr


def test_a_program_without_a_build_runs_in_its_read_only_folder(folder, builder):
    (folder / "whet.toml").write_text(
        '[task]\nlanguage = "command"\ntarget = "say.sh"\n[run]\ncommand = "ls; sh say.sh; touch new && echo written"\n'
    )
    (folder / "say.sh").write_text('read -r line; echo "$line"\n')
    task = read_task(str(folder), Options())
    _, stdout, _ = outcome(Builder(task, builder.sandbox, builder.interpreter).build(task.source), b"hello\n")

    assert stdout.decode().split() == ["Makefile", "say.sh", "src", "hello"]


def test_what_a_build_leaves_beside_the_program_is_there_when_it_runs(folder, builder):
    (folder / "whet.toml").write_text(
        '[task]\nlanguage = "command"\ntarget = "word.txt"\n[build]\ncommand = """mkdir -p out/deep\n'
        'cp word.txt out/deep/word && ln -s word out/deep/link && ln -s /etc/passwd out/secret && ln -s . out/loop"""\n'
        '[run]\ncommand = "cat out/deep/link; ls out"\n'
    )
    (folder / "word.txt").write_text("word\n")
    task = read_task(str(folder), Options())
    _, stdout, _ = outcome(Builder(task, builder.sandbox, builder.interpreter).build(task.source), b"")

    assert stdout.decode().split() == ["word", "deep"]


def test_instructions_are_counted_of_the_program_and_not_of_the_shell(builder):
    if shutil.which("valgrind") is None:
        pytest.skip("valgrind is not installed")
    few, many = (
        count(builder.build(ADD), [stdin], Setting("candidate", 10.0, (), 0, 0)) for stdin in (b"1 1\n", b"1 100000\n")
    )

    assert not isinstance(few, Fault)
    assert not isinstance(many, Fault)
    assert 100_000 < many.instructions - few.instructions < 1_000_000


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('[run]\ncommand = "./adder"\n', "", "needs [run] command"),
        ('language = "command"', 'language = "c"', 'goes with language = "command"'),
        ('name = "adder"', 'symbol = "add"', "no symbol"),
        ('command = "make -s adder"', 'flags = ["-O2"]', "flags stand in"),
        ('command = "./adder"', 'comand = "./adder"', "run.command: field required"),
        ('target = "src/add.c"', 'target = "../adder2/add.c"', "no file"),
    ],
)
def test_a_task_file_that_says_too_little_or_too_much(folder, old, new, said):
    (folder / "whet.toml").write_text(TOML.replace(old, new))

    with pytest.raises(UsageError) as raised:
        read_task(str(folder), Options())
    assert said in str(raised.value)


def test_a_target_outside_of_the_folder_is_refused(folder):
    (folder.parent / "add.c").write_text(ADD)
    (folder / "whet.toml").write_text(TOML.replace("src/add.c", "../add.c"))

    with pytest.raises(UsageError, match="outside"):
        read_task(str(folder), Options())


def test_a_folder_of_too_many_texts_is_refused(tmp_path):
    for number in range(501):
        (tmp_path / f"{number}.txt").write_text("x")

    with pytest.raises(UsageError, match="a folder of its own"):
        folder_texts(tmp_path, ())


def test_hints_and_faults_go_by_the_language_that_the_suffix_tells(folder):
    task = read_task(str(folder), Options())

    assert next(mutants(task, 1)).candidate.source != ADD
    assert hints(task.written, 'int main(void) { return system("ls"); }\n', ADD)
    (folder / "Sum.java").write_text("class Sum {}\n")
    (folder / "whet.toml").write_text(TOML.replace("src/add.c", "Sum.java"))
    java = read_task(str(folder), Options())
    assert (java.written, list(mutants(java, 1))) == ("java", [])
