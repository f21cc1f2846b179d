"""The slices of the corpora: each test is in exactly one, they are alike in size, and a commit always has the same."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from paths import ROOT
from slices import CORPORA, NEVER, SLICES, in_slice, parts_of, slice_of

from whet.testing.attacks.strike import CORPUS as ATTACKS
from whet.testing.exploits.corpus import exploits

TESTS = [
    *(
        f"tests/testing/test_exploits.py::test_it[{one.name}:{side}]"
        for one in exploits()
        for side in ("cheat", "twin")
    ),
    *(f"tests/testing/test_attacks.py::test_it[bubblewrap-{one.name}]" for one in ATTACKS),
]
COMMITS = {slice_of(str(number)): str(number) for number in range(1000)}
"""A commit for each slice."""


def test_each_test_is_in_exactly_one_slice_and_each_slice_is_some_commit_s() -> None:
    assert set(COMMITS) == set(range(SLICES))
    for test in TESTS:
        assert [commit for commit in COMMITS.values() if in_slice(test, commit)] == [
            COMMITS[slice_of(test.replace("tests/testing/", "tests/"))]
        ]


def test_slices_are_alike_in_size() -> None:
    sizes = [sum(in_slice(test, commit) for test in TESTS) for commit in COMMITS.values()]
    assert sum(sizes) == len(TESTS)
    assert min(sizes) > 0
    assert max(sizes) < 2.5 * len(TESTS) / SLICES


def test_what_runs_in_one_commit_of_eight_does_so() -> None:
    commits = {slice_of(str(number), 8): str(number) for number in range(100)}
    assert set(commits) == set(range(8))
    for test in TESTS:
        assert sum(in_slice(test, commit, 8) for commit in commits.values()) == 1


def test_the_slice_of_a_commit_never_changes() -> None:
    assert (slice_of("none"), slice_of("a"), slice_of("b")) == (25, 75, 41)


@pytest.mark.parametrize("mark", sorted(NEVER))
def test_what_a_clock_decides_or_takes_longest_is_in_no_slice(mark: str) -> None:
    test = "tests/testing/test_exploits.py::test_it"
    corpus, often = pytest.mark.corpus.mark, pytest.mark.corpus(one_in=8).mark
    assert parts_of(test, [pytest.mark.usefixtures("figures").mark, corpus]) == SLICES
    assert parts_of(test, [often]) == parts_of("tests/benchmarks/test_board.py::test_it", [often]) == 8
    for marks in ([corpus], [often]):
        assert not parts_of(test, [*marks, getattr(pytest.mark, mark).mark])
    assert not parts_of(test, [pytest.mark.usefixtures("figures").mark])
    assert not parts_of("tests/benchmarks/test_board.py::test_it", [corpus])


def test_every_corpus_is_a_module_of_tests() -> None:
    assert set(CORPORA) <= {path.stem for path in (ROOT / "tests").rglob("test_*.py")}


SUITE = """
import pytest
@pytest.mark.corpus
@pytest.mark.parametrize("number", range(100))
def test_corpus(number):
    pass
@pytest.mark.corpus
@pytest.mark.timed
def test_timed():
    pass
def test_plain():
    pass
"""


@pytest.mark.parametrize("workers", [(), ("-p", "xdist.plugin", "-n", "2")], ids=["alone", "with workers"])
def test_pytest_runs_the_slice_of_the_commit_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: tuple[str, ...]
) -> None:
    (tmp_path / "test_mutants.py").write_text(SUITE)
    (tmp_path / "conftest.py").write_text(
        f"import sys\nsys.path.insert(0, {str(ROOT / 'tests')!r})\nimport slices\n"
        "def pytest_addoption(parser):\n    slices.add_option(parser)\n"
        "def pytest_configure(config):\n    config.pluginmanager.register(slices)\n"
    )
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n    corpus\n    timed\n    slice\n")
    wanted = sum(in_slice(f"test_mutants.py::test_corpus[{number}]", "a commit") for number in range(100))
    choice = ("-m", "slice or not (corpus or timed)")
    # Only what this needs: loading the rest takes seconds.
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    command = [sys.executable, "-m", "pytest", *workers, *choice]
    sliced = subprocess.run([*command, "--slice", "a commit"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert f"slice a commit: {wanted} of 100 tests of the corpora" in sliced.stdout
    assert f"{wanted + 1} passed" in sliced.stdout
    whole = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "of the corpora" not in whole.stdout
    assert "1 passed" in whole.stdout
