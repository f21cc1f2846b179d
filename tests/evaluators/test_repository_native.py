"""Repositories of C: versions of a source file, judged by the whole project."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path

import pytest
from repositories import git, repository

from whet.agents.repository.run import optimize_repository
from whet.core.candidate import Candidate
from whet.core.config import ProjectConfig
from whet.core.errors import BaselineError
from whet.core.options import Options
from whet.core.result import Status
from whet.core.verdict import Reason, RungStatus
from whet.evaluators.repository import end_to_end
from whet.evaluators.repository.suite_run import BESIDE, Suite, baseline
from whet.evaluators.repository.survey import survey
from whet.evaluators.repository.trees import Ground, Snapshot, snapshot
from whet.evaluators.repository.whole import WholeProject, file_task
from whet.sandbox.backends import open_sandbox
from whet.sandbox.interpreter import find_interpreter

pytestmark = [
    pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed"),
    pytest.mark.skipif(shutil.which("make") is None or shutil.which("cc") is None, reason="make or cc is missing"),
]

SLOW = """\
#include "common.h"

long common(const int *left, const int *right, long n)
{
    long found = 0;
    for (long i = 0; i < n; i++) {
        int seen = 0;
        for (long j = 0; j < n; j++)
            if (left[i] == right[j])
                seen = 1;
        found += seen;
    }
    return found;
}
"""
FAST = SLOW.replace("seen = 1;", "{ seen = 1; break; }")
WRONG = SLOW.replace("found += seen;", "found += seen && i < 1500;")
BROKEN = SLOW.replace("return found;", "return lost;")
TOO_FAR = SLOW.replace("int seen = 0;", "int seen = 0; (void)*(volatile const int *)&right[n];")
FAILING = SLOW.replace("return found;", "return n == 10 ? 6 : found;")
HEADER = "long common(const int *left, const int *right, long n);\n"
MAIN = """\
#include "common.h"
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : 10;
    int *left = malloc(n * sizeof *left), *right = malloc(n * sizeof *right);
    for (long i = 0; i < n; i++) {
        /* Of many, each is found early, so that who stops there is faster by far. */
        left[i] = i * 7 % (n < 100 ? n + 3 : 103);
        right[i] = n < 100 && i % 2 == 0 ? 0 : (int)i;
    }
    printf("%ld\\n", common(left, right, n));
    free(left);
    free(right);
    return 0;
}
"""
MAKEFILE = """\
app: src/*.c src/*.h
	$(CC) -O2 -o app src/common.c src/main.c

check: app
	test $$(./app 10) = 5
"""
FILES = {"Makefile": MAKEFILE, "src/common.c": SLOW, "src/common.h": HEADER, "src/main.c": MAIN}
RUN, CHECK = "./app 20000", "make check"


class Project:
    """A repository with what judges versions of ``src/common.c``."""

    def __init__(self, root: Path, stack: ExitStack) -> None:
        self.sandbox = stack.enter_context(closing(open_sandbox("bubblewrap", unsafe=False)))
        around = replace(survey(root, ProjectConfig()), tests=CHECK)
        self.ground = Ground(self.sandbox, find_interpreter(), around)
        made = snapshot(self.ground, root, BESIDE)
        assert isinstance(made, Snapshot), made
        self.standing = stack.enter_context(closing(made))
        found = baseline(self.ground, self.standing, CHECK)
        assert isinstance(found, Suite), found
        self.suite = found

    def judge(self, command: str = RUN, tested: bool = True) -> WholeProject:
        task = file_task(self.ground, "src/common.c", command)
        return WholeProject(self.ground, task, self.standing, self.suite if tested else None, Options(), 1)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    with ExitStack() as stack:
        yield Project(repository(tmp_path_factory.mktemp("native") / "code", FILES), stack)


@pytest.fixture(scope="module")
def judge(project: Project) -> WholeProject:
    made = project.judge()
    made.validate()
    return made


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("text", "rung", "reason", "said"),
    [
        pytest.param(BROKEN, "build", Reason.BUILD_ERROR, "lost", id="does not build"),
        pytest.param(WRONG, "differential", Reason.WRONG_OUTPUT, "line 1", id="prints something else"),
        pytest.param(TOO_FAR, "hazard", Reason.MEMORY_ERROR, "heap-buffer-overflow", id="reads too far"),
        pytest.param(FAILING, "test", Reason.TEST_FAILURE, "", id="fails the tests"),
    ],
)
def test_a_wrong_version_is_caught_where_it_shows(
    judge: WholeProject, text: str, rung: str, reason: Reason, said: str
) -> None:
    failed = judge.check(Candidate(text)).failed
    assert failed is not None
    assert (failed.name, failed.reason) == (rung, reason)
    assert said in failed.detail


@pytest.mark.corpus
def test_a_right_version_passes_and_the_file_stays(judge: WholeProject) -> None:
    verdict = judge.check(Candidate(FAST))
    assert verdict.correct
    passed = {rung.name for rung in verdict.rungs if rung.status is RungStatus.PASSED}
    assert passed == {"screen", "build", "test", "differential", "hazard"}
    assert judge.task.path.read_text() == SLOW


@pytest.mark.corpus
@pytest.mark.skipif(shutil.which("valgrind", path="/usr/bin") is None, reason="valgrind is not installed")
def test_its_hot_lines_are_told(judge: WholeProject) -> None:
    found = judge.profile(Candidate(SLOW))
    assert not found.note
    assert {line.text for line in found.lines[:2]} <= {line.strip() for line in SLOW.splitlines()[7:10]}
    assert found.functions[0].name == "common"


@pytest.mark.corpus
def test_where_the_command_is(judge: WholeProject) -> None:
    place = judge.circumstances()
    assert place.compiler is not None
    assert place.timed[0].seconds > 0.02


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("command", "tested", "said"),
    [
        pytest.param("./app 20000 >/dev/null", False, "nothing would notice a wrong src/common.c", id="empty oracle"),
        pytest.param("./app 10", True, "too short to time", id="too short"),
        pytest.param("./app 20000 && false", False, "fails before any change", id="failing"),
    ],
)
def test_a_project_that_no_verdict_could_rest_on(project: Project, command: str, tested: bool, said: str) -> None:
    with pytest.raises(BaselineError, match=said):
        project.judge(command, tested).validate()


@pytest.mark.corpus
def test_a_command_that_prints_something_else_each_time_is_held_to_its_tests(project: Project) -> None:
    judge = project.judge("./app 20000 >/dev/null; date +%N")
    judge.validate()
    compared = judge.check(Candidate(FAST)).rung("differential")
    assert compared is not None
    assert (compared.status, compared.reason) == (RungStatus.SKIPPED, Reason.NOT_ASKED)


@pytest.mark.corpus
def test_a_link_in_place_of_a_file_is_not_written_through(project: Project, tmp_path: Path) -> None:
    outside = tmp_path / "outside.c"
    outside.write_text("int kept;\n")
    root = repository(tmp_path / "code", {**FILES, "src/other.c": ""})
    (root / "src/other.c").unlink()
    (root / "src/other.c").symlink_to(outside)
    found = snapshot(project.ground, root, replaced={"src/other.c": "int lost;\n"})
    assert not isinstance(found, Snapshot)
    assert found.detail == "src/other.c is a link"
    assert outside.read_text() == "int kept;\n"


@pytest.mark.corpus
@pytest.mark.skipif(shutil.which("valgrind", path="/usr/bin") is None, reason="valgrind is not installed")
def test_a_repository_of_c_is_made_faster(figures: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(end_to_end, "MOST", end_to_end.FEWEST)
    root = repository(tmp_path / "code", FILES)
    answers = tmp_path / "answers"
    answers.mkdir()
    for number, text in enumerate((WRONG, FAST), 1):
        (answers / f"{number:04}.answer.md").write_text(f"Stop at the first.\n\n```c\n{text}```\n")
    result = optimize_repository(
        root,
        run=RUN if figures == "real" else "./app 2000",
        tests=CHECK,
        rounds=1,
        candidates=2,
        model=f"manual:{answers}",
        top=1,
        home=tmp_path / "home",
    )
    assert result.status is Status.IMPROVED, result.message
    (kept,) = result.attempts
    assert (kept.function.target, kept.kept) == ("src/common.c", True)
    assert git(root, "show", f"{result.branch}:src/common.c") == FAST
    assert git(root, "show", "HEAD:src/common.c") == SLOW
    assert result.end_to_end is not None
    assert result.end_to_end.speedup.low > 1.2
