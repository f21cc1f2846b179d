"""A part of the corpora for each commit: `make test` runs it, and over some dozens of commits all of them are run.

Which part is a matter of hashes alone, so that anybody runs the same again with ``--slice COMMIT``.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from pathlib import PurePosixPath

import pytest

CORPORA = (
    "test_abi",
    "test_algorithm_edits",
    "test_attacks",
    "test_branch_coverage",
    "test_exploits",
    "test_floats",
    "test_guard",
    "test_hazard",
    "test_hidden_state",
    "test_load",
    "test_loop_edits",
    "test_mutants",
    "test_needs",
    "test_python_equivalence",
    "test_rearranged",
    "test_scripted_verdicts",
    "test_stateful",
    "test_tasks",
    "test_typed_inputs",
    "test_verify",
)
"""Modules whose tests marked `corpus` are about verdicts, attacks and exploits."""
SLICES = 78
"""How many parts there are. With more, `make test` is shorter and more commits pass before a test is run again.

``@pytest.mark.corpus(one_in=8)`` has a test, of whatever module, run in one commit of so many.
"""
NEVER = frozenset({"timed", "exhaustive"})
"""Marks of what is in no slice: a real clock decides it, or it takes longer than all else."""

SLICED = pytest.StashKey[str]()
"""What the slice has, in words."""


def slice_of(text: str, parts: int = SLICES) -> int:
    """Returns the number of the slice that a commit has, or that a test is in."""
    return zlib.crc32(text.encode()) % parts


def parts_of(test: str, marks: Sequence[pytest.Mark]) -> int:
    """Returns in how many parts the corpus of a test is, by its id and marks; 0 where no slice has it."""
    corpus = next((mark for mark in marks if mark.name == "corpus"), None)
    if corpus is None or NEVER & {mark.name for mark in marks}:
        return 0
    module = PurePosixPath(test.partition("::")[0]).stem
    return int(corpus.kwargs.get("one_in", SLICES if module in CORPORA else 0))


def in_slice(test: str, commit: str, parts: int = SLICES) -> bool:
    """Tells whether a test of the corpora is in the slice of a commit.

    A test's slice depends neither on what other tests there are nor on the folder of its file; each commit has the
    next of them, by its hash.
    """
    file, _, rest = test.partition("::")
    return slice_of(f"tests/{PurePosixPath(file).name}::{rest}", parts) == slice_of(commit, parts)


def add_option(parser):
    parser.addoption("--slice", metavar="COMMIT", default="", help="mark the part of the corpora that this commit has")


@pytest.hookimpl(tryfirst=True)  # before tests are chosen by their marks
def pytest_collection_modifyitems(config, items):
    """Marks the tests of the corpora that are in the slice of the commit."""
    if commit := config.getoption("--slice"):
        parts = {item: parts_of(item.nodeid, list(item.iter_markers())) for item in items}
        corpora = [item for item in items if parts[item]]
        chosen = [item for item in corpora if in_slice(item.nodeid, commit, parts[item])]
        for item in chosen:
            item.add_marker("slice")
        config.stash[SLICED] = f"{len(chosen)} of {len(corpora)} tests of the corpora"


def pytest_sessionfinish(session):
    """Tells the process that the user sees, where this is one of its workers."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["sliced"] = session.config.stash.get(SLICED, "")


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    """Hears it."""
    if said := getattr(node, "workeroutput", {}).get("sliced"):
        node.config.stash[SLICED] = said


def pytest_terminal_summary(terminalreporter, config):
    if said := config.stash.get(SLICED, ""):
        terminalreporter.write_line(f"slice {config.getoption('--slice')}: {said}")
