"""``whet optimize DIR`` and ``whet verify --rev`` on small repositories with real git, kills included."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from repositories import commit, git, repository

from whet.agents.repository.run import optimize_repository, resume_repository
from whet.core.errors import UsageError
from whet.core.result import Status
from whet.core.revision import RevisionAnswer
from whet.core.store import Store
from whet.evaluators.repository import end_to_end
from whet.evaluators.repository.judging import verify_revisions

SLOW = """def common(left, right):
    found = []
    for item in left:
        if item in right:
            found.append(item)
    return found
"""
WRONG = "def common(left, right):\n    return left\n"
FILES = {
    "pyproject.toml": '[project]\nname = "pkg"\nversion = "1"\n',
    "src/pkg/__init__.py": "",
    "src/pkg/lists.py": SLOW,
    "tests/test_lists.py": "from pkg.lists import common\n\n\ndef test_two():\n    assert common([1, 2], [2]) == [2]\n",
    "bench.py": "from pkg.lists import common\n\nfor size in range(600, 1400, 80):\n"
    "    print(len(common(list(range(size)), list(range(size // 2, 2 * size)))))\n",
}
RUN, TESTS = "python bench.py", "python -m pytest -q tests"


class Killed(BaseException):
    """What a run meets in the middle."""


@pytest.fixture
def root(tmp_path):
    return repository(tmp_path / "code", FILES)


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


@pytest.fixture(autouse=True)
def few_turns(monkeypatch):
    monkeypatch.setattr(end_to_end, "MOST", end_to_end.FEWEST)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"metric": "memory"}, "--metric is for one target"),
        ({"workload": "w.py"}, "--workload is for one target"),
        ({"top": 0}, "--top 0 is below 1"),
        ({"min_share": 2.0}, "--min-share 2 is outside"),
        ({"run": " "}, "--run is empty"),
        ({"changed": "nowhere"}, "no revision 'nowhere'"),
        ({"strategy": "none"}, "strategy"),
    ],
)
def test_what_cannot_be_used_is_said_before_a_run_begins(root, home, given, why):
    with pytest.raises(UsageError, match=why):
        optimize_repository(root, home=home, **given)
    assert not home.exists() or Store(home).runs() == []


def test_a_repository_without_any_command_is_told_how_to_give_one(tmp_path, home):
    root = repository(tmp_path / "bare", {"pyproject.toml": "", "a.py": "x = 1\n"})
    with pytest.raises(UsageError, match="give --run CMD, or --tests CMD"):
        optimize_repository(root, home=home)


@pytest.mark.corpus
@pytest.mark.parametrize("words", [("--run", "python x.py"), ("--top", "3"), ("--changed", "main")])
def test_options_of_repositories_go_with_a_folder(whet, root, words):
    done = whet("optimize", f"{root}/src/pkg/lists.py::common", *words)
    assert done.returncode == 2
    assert f"{words[0]} goes with a repository's folder" in done.stderr


@pytest.mark.corpus
@pytest.mark.parametrize("rev", ["HEAD", "..HEAD", "HEAD..", "a..b..c", "HEAD..nothing"])
def test_revisions_that_name_nothing_are_refused(whet, root, rev):
    done = whet("verify", str(root), "--rev", rev)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1


@pytest.mark.corpus
def test_tests_that_fail_before_any_change_end_it(root, home):
    commit(root, {"tests/test_lists.py": "def test_bad():\n    assert 0\n"})
    result = optimize_repository(root, run=RUN, tests=TESTS, home=home)
    assert result.status is Status.BASELINE_INVALID
    assert "tests/test_lists.py::test_bad" in result.message
    assert result.exit_code == 5
    assert git(root, "worktree", "list").count("\n") == 1
    assert git(root, "branch", "--list", "whet/*") == ""


@pytest.mark.corpus
@pytest.mark.usefixtures("figures")
def test_a_run_that_is_killed_goes_on_to_a_commit_and_that_is_judged_faster(root, home):
    (root / "note.txt").write_text("mine")

    def kill(event):
        if event.text.endswith("the whole suite with its winner in place"):
            raise Killed

    given = {"run": RUN, "tests": TESTS, "rounds": 1, "candidates": 1, "top": 1, "home": home}
    with pytest.raises(Killed):
        optimize_repository(root, apply=True, listener=kill, **given)
    store = Store(home)
    (begun,) = [record.id for record in store.runs() if record.command == "repository"]
    before = len(store.runs())

    result = resume_repository(begun, home=home)
    assert result.status is Status.IMPROVED
    assert len(store.runs()) == before, "the function's own run was not begun again"
    (attempt,) = result.attempts
    assert attempt.function.target == "src/pkg/lists.py::common"
    assert attempt.kept
    assert attempt.end_to_end.outcome == result.end_to_end.outcome == "faster"
    assert result.tests.passed == ("tests/test_lists.py::test_two",)
    assert any("note.txt" in note for note in result.notes)
    assert git(root, "rev-parse", result.branch).strip() == attempt.commit
    assert f"Whet-Run: {begun}" in git(root, "log", "-1", "--format=%B", result.branch)
    assert git(root, "diff", "--stat", result.branch, "--", "src") == "", "it was applied"
    assert git(root, "worktree", "list").count("\n") == 1
    assert json.loads(json.dumps(result.to_json()))["schema"] == "whet.repository/1"
    assert resume_repository(begun, home=home) == result

    said = verify_revisions(root, f"HEAD..{result.branch}", run=RUN, tests=TESTS, home=home)
    assert said.answer is RevisionAnswer.FASTER
    assert [(one.target, one.answer) for one in said.functions] == [("src/pkg/lists.py::common", RevisionAnswer.FASTER)]
    assert said.exit_code == 0


@pytest.mark.corpus
@pytest.mark.usefixtures("figures")
def test_a_change_that_is_wrong_or_new_is_told_function_by_function(root, home):
    commit(root, {"src/pkg/lists.py": f"{WRONG}\n\ndef other(x, y):\n    return x\n"})
    said = verify_revisions(root, "HEAD~1..HEAD", run=RUN, tests=TESTS, home=home)
    assert said.answer is RevisionAnswer.WRONG
    assert said.status is Status.REJECTED
    assert {one.target: one.answer for one in said.functions} == {
        "src/pkg/lists.py::common": RevisionAnswer.WRONG,
        "src/pkg/lists.py::other": RevisionAnswer.NOT_JUDGED,
    }
    assert said.failing == ("tests/test_lists.py::test_two",)


@pytest.mark.corpus
def test_functions_that_did_not_change_since_a_base_are_left(root, home):
    git(root, "branch", "base")
    commit(root, {"src/pkg/other.py": "def f(x):\n    return x\n"})
    result = optimize_repository(root, run=RUN, tests=TESTS, rounds=1, changed="base", home=home)
    assert result.status is Status.NO_IMPROVEMENT
    assert result.attempts == ()
    hottest = result.functions[0]
    assert hottest.target == "src/pkg/lists.py::common"
    assert "not changed since" in hottest.skipped


LARGEST = """def largest(items, key):
    best = None
    for item in items:
        if best is None or key(item) > key(best):
            best = item
    return best
"""
TOTAL = """def total(items):
    seen = 0
    for item in items:
        seen = seen ^ (item << 1)
    return seen
"""
BENCH = """from pkg.picks import largest
from pkg.sums import total

for size in range(30_000, 40_000, 500):
    largest(list(range(size)), lambda item: item % 977)
    total(list(range(size // 8)))
"""


@pytest.mark.corpus
def test_what_cannot_be_recorded_makes_room_for_the_next(root, home):
    commit(root, {"src/pkg/picks.py": LARGEST, "src/pkg/sums.py": TOTAL, "bench.py": BENCH})
    result = optimize_repository(root, run=RUN, rounds=1, top=1, home=home)
    assert [one.function.symbol for one in result.attempts] == ["largest", "total"]
    assert result.attempts[0].run is None
    assert "cannot be stored" in result.attempts[0].why
    assert result.attempts[1].run is not None
    assert result.status is Status.NO_IMPROVEMENT


@pytest.mark.corpus
@pytest.mark.usefixtures("figures")
def test_without_tests_comparison_alone_judges_and_that_is_said(root, home, whet):
    git(root, "rm", "--quiet", "-r", "tests")
    commit(root, {})
    git(root, "checkout", "--quiet", "--detach")
    result = optimize_repository(root, run=RUN, rounds=1, candidates=1, top=1, home=home)
    assert result.status is Status.IMPROVED, result.message
    assert result.tests is None
    assert any("only comparison with the baseline judges" in note for note in result.notes)
    assert "Tests: there are no tests." in git(root, "log", "-1", "--format=%B", result.branch)
    for form in ("--html", "--markdown"):
        done = whet("runs", "show", result.run, form, "-")
        assert done.returncode == 0, done.stderr
        for told in ("common", RUN, "kept", "USD", "only comparison"):
            assert told in done.stdout


@pytest.mark.corpus
@pytest.mark.usefixtures("figures")
def test_the_environment_of_the_project_runs_all_of_it(root, home):
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    packages = root / ".venv" / "lib" / version / "site-packages"
    packages.mkdir(parents=True)
    (packages / "rates.py").write_text("RATE = 3\n")
    python = Path(sys.executable).resolve()
    (root / ".venv/pyvenv.cfg").write_text(f"home = {python.parent}\n")
    (root / ".venv/bin").mkdir()
    (root / ".venv/bin/python").symlink_to(python)
    check = "import rates\nfrom pkg.lists import common\n\nassert common([1, rates.RATE], [3]) == [3]\n"
    commit(root, {".gitignore": ".venv\n", "bench.py": f"import rates\n{FILES['bench.py']}", "check.py": check})
    result = optimize_repository(
        root, run=RUN, tests="python check.py", rounds=1, candidates=1, top=1, home=home, apply=True
    )
    assert result.status is Status.IMPROVED, result.message
    assert result.tests.passed == ("python check.py",)
    assert "applied to src/pkg/lists.py" in result.message
    assert git(root, "diff", "--name-only").split() == ["src/pkg/lists.py"]
