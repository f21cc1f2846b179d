"""Rewrites that change a helper in another file: one text of several files, on the ladder and in a repository."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from repositories import git, repository

from whet.agents.repository.helpers import with_helpers
from whet.agents.repository.run import optimize_repository
from whet.core.candidate import Candidate, content_id
from whet.core.options import Options
from whet.core.parts import MARK, joined, parts
from whet.core.repository import HotFunction, ProjectKind, Survey
from whet.core.result import Status
from whet.core.verdict import Reason
from whet.evaluators.evidence.record import texts_of
from whet.evaluators.ladder import Ladder, open_ladder
from whet.evaluators.repository import end_to_end
from whet.evaluators.targets import read_task

sandboxed = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")

TARGET = '''\
"""What is hot."""

from __future__ import annotations

from pkg.table import lookup


def total(keys: list[int], wanted: list[int]) -> int:
    found = 0
    for key in wanted:
        found += lookup(keys, key)
    return found
'''
HELPER = '''\
"""Where it looks."""

from __future__ import annotations


def lookup(keys: list[int], key: int) -> int:
    for place in range(len(keys)):
        if keys[place] == key:
            return place
    return -1
'''
FAST_HELPER = HELPER.replace(
    "    for place in range(len(keys)):\n        if keys[place] == key:\n            return place\n    return -1\n",
    "    return keys.index(key) if key in keys else -1\n",
)
WORKLOAD = """\
sizes = [300, 600]
def make_input(size, rng):
    keys = [rng.randrange(size * 2) for _ in range(size)]
    return (keys, [rng.randrange(size * 2) for _ in range(20)])
"""
FILES = {
    "pyproject.toml": '[project]\nname = "pkg"\nversion = "1"\n',
    "src/pkg/__init__.py": "",
    "src/pkg/hot.py": TARGET,
    "src/pkg/table.py": HELPER,
    "tests/test_hot.py": "from pkg.hot import total\n\n\ndef test_two():\n    assert total([5, 6], [6, 7]) == 0\n",
    "bench.py": "from pkg.hot import total\n\nfor size in range(600, 1400, 40):\n"
    "    print(total(list(range(size)), list(range(0, 2 * size, 7))))\n",
}
NAMES = ("src/pkg/hot.py", "src/pkg/table.py")

lines = st.lists(st.sampled_from(["x = 1", "", "# whet: the file b.py begins", "\u2028", "  y\r"]))


@given(lines, lines, lines)
def test_what_is_joined_comes_apart_again(one: list[str], other: list[str], third: list[str]) -> None:
    first, *others = ("".join(f"{line}\n" for line in text) for text in (one, other, third))
    files = dict(zip(("b.py", "c/d.py"), others, strict=True))
    assert parts(joined(first, files), ("a.py", *files)) == {"a.py": first, **files}


def test_a_mark_of_a_file_that_is_none_of_them_is_a_comment() -> None:
    text = f"x = 1\n{MARK.format('../../etc/passwd')}y = 2\n"
    assert parts(text, ("a.py", "b.py")) == {"a.py": text}
    assert parts(text, ("a.py",)) == {"a.py": text}
    twice = f"{MARK.format('b.py')}one\n{MARK.format('b.py')}two\n"
    assert parts(twice, ("a.py", "b.py")) == {"a.py": "", "b.py": "two\n"}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("parts") / "code"
    return repository(root, {**FILES, "workload.py": WORKLOAD})


def spot(path: str, symbol: str, own: float) -> HotFunction:
    return HotFunction(path, symbol, 8, 12, "python", own, own, 0, 1.0)


def around(root: Path, *ignore: str) -> Survey:
    return Survey(root, ProjectKind.PYTHON, ("src",), None, None, None, ignore)


@pytest.fixture(scope="module")
def ladder(root: Path) -> Iterator[Ladder]:
    options = Options(workload=root / "workload.py", tests="python -m pytest -q tests", until="prove", seed=1)
    task = read_task(f"{root}/src/pkg/hot.py::total", options)
    hot = spot("src/pkg/hot.py", "total", 0.2)
    task = with_helpers(task, around(root), hot, [hot, spot("src/pkg/table.py", "lookup", 0.7)])
    assert task.others == ("pkg/table.py",)
    with closing(open_ladder(task, options, 1)) as ladder:
        ladder.validate()
        yield ladder


@pytest.mark.corpus
@sandboxed
def test_a_rewrite_of_the_helper_is_right_or_wrong(ladder: Ladder) -> None:
    source = ladder.task.source
    parent = content_id(source)
    right = ladder.check(Candidate(source.replace(HELPER, FAST_HELPER), parent))
    assert right.correct, right.failed
    wrong = ladder.check(Candidate(source.replace("return -1", "return 0"), parent)).failed
    assert wrong is not None
    assert wrong.reason in (Reason.WRONG_OUTPUT, Reason.TEST_FAILURE)
    broken = ladder.check(Candidate(source.replace("def lookup(", "def look("), parent)).failed
    assert broken is not None
    assert broken.name in ("build", "test", "differential")


@sandboxed
@pytest.mark.parametrize(
    ("change", "reason", "said"),
    [
        (
            ("begins here", "begins"),
            Reason.FORBIDDEN_CONSTRUCT,
            "'# whet: the file pkg/table.py begins here' is missing",
        ),
        (("return -1", "return -1)"), Reason.SYNTAX_ERROR, ""),
        (("wanted: list[int]) -> int", "wanted: list[int], more) -> int"), Reason.BUILD_ERROR, "the signature changed"),
    ],
)
def test_the_screen_reads_each_file(ladder: Ladder, change: tuple[str, str], reason: Reason, said: str) -> None:
    failed = ladder.check(Candidate(ladder.task.source.replace(*change))).failed
    assert failed is not None
    assert (failed.name, failed.reason) == ("screen", reason)
    assert said in failed.detail


def test_evidence_holds_the_whole_text(ladder: Ladder) -> None:
    task = ladder.task
    texts = texts_of(task, Candidate(task.source))
    assert texts["baseline/pkg/hot.py"].decode() == joined(TARGET, {"pkg/table.py": HELPER})
    assert task.files(task.source)["pkg/table.py"] == HELPER


def test_only_hot_helpers_that_the_function_names_come_along(root: Path) -> None:
    task = read_task(f"{root}/src/pkg/hot.py::total", Options(workload=root / "workload.py"))
    hot = spot("src/pkg/hot.py", "total", 0.2)
    for others in (
        [spot("src/pkg/table.py", "other", 0.7)],
        [spot("bench.py", "lookup", 0.7)],
        [],
    ):
        assert with_helpers(task, around(root), hot, [hot, *others]) == task
    lookup = spot("src/pkg/table.py", "lookup", 0.7)
    assert with_helpers(task, around(root, "src/pkg/t*"), hot, [lookup]) == task
    unmarked = replace(task, support={**task.support, "pkg/table.py": HELPER.rstrip("\n")})
    assert with_helpers(unmarked, around(root), hot, [lookup]) == unmarked


@sandboxed
@pytest.mark.corpus
@pytest.mark.usefixtures("figures")
def test_a_win_in_two_files_is_one_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(end_to_end, "MOST", end_to_end.FEWEST)
    root = repository(tmp_path / "code", FILES)
    answers = tmp_path / "answers"
    answers.mkdir()
    text = joined(TARGET.replace("    found = 0\n", "    found = 0  # added up\n"), {"pkg/table.py": FAST_HELPER})
    (answers / "0001.answer.md").write_text(f"Let the list look.\n\n```python\n{text}```\n")
    result = optimize_repository(
        root,
        run="python bench.py",
        tests="python -m pytest -q tests",
        rounds=1,
        candidates=1,
        model=f"manual:{answers}",
        targets=["src/pkg/hot.py::total"],
        min_share=0.0,
        home=tmp_path / "home",
    )
    assert result.status is Status.IMPROVED, (result.message, result.attempts)
    assert "the file pkg/table.py begins here" in (answers / "0001.prompt.md").read_text()
    assert git(root, "diff", "--name-only", "HEAD", str(result.branch)).split() == list(NAMES)
    assert git(root, "show", f"{result.branch}:src/pkg/table.py") == FAST_HELPER
    assert result.attempts[0].diff.count("+++ b/") == 2
