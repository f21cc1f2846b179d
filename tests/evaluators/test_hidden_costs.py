"""Costs that lie outside the timed calls, live: loading, the first call, work after the answer, memory that stays.

`test_hidden_costs_judged` is about the same on scripted and recorded observations, without a clock.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator

import pytest
from hidden_candidates import PAIRS, Pair, building

from whet.core.verdict import Reason
from whet.evaluators.artifacts import Artifact
from whet.evaluators.finding import Fault, Skipped, found_by
from whet.evaluators.timing.hidden_costs import HiddenCosts, hidden_costs

pytestmark = [
    pytest.mark.timed,
    pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed"),
]

Build = Callable[[Pair], tuple[Artifact, Artifact]]


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Build]:
    with building(tmp_path_factory.mktemp("squares")) as build:
        yield build


def costs(build: Build, name: str) -> HiddenCosts | Fault | Skipped:
    pair = PAIRS[name]
    return found_by(lambda: hidden_costs(*build(pair), pair.calls))


def test_an_honest_candidate_is_charged_nothing(build: Build) -> None:
    found = costs(build, "honest")
    assert isinstance(found, HiddenCosts)
    assert found.seconds == 0.0
    assert len(found.evidence["sides"]["candidate"]) == len(found.evidence["sides"]["baseline"])


@pytest.mark.parametrize(
    "name", ["table-while-loading", "table-at-first-call", "table-in-a-thread", "table-in-a-child"]
)
def test_a_table_that_is_made_while_loading_or_at_the_first_call_is_charged(build: Build, name: str) -> None:
    found = costs(build, name)
    assert isinstance(found, HiddenCosts)
    assert 0.01 < found.seconds < 2.0


@pytest.mark.parametrize("sizes", ["cheaper", "dearer"])
@pytest.mark.parametrize("lazily", [False, True])
def test_an_input_that_is_dearer_than_the_next_is_no_debt(build: Build, sizes: str, lazily: bool) -> None:
    found = costs(build, f"first-input-{sizes}{'-and-table' if lazily else ''}")
    assert isinstance(found, HiddenCosts)
    assert (found.evidence["before_the_calls"] > 0.01) == lazily


@pytest.mark.parametrize(
    "name",
    ["imports", "imports-in-the-call", "lazy-libraries", "looked-up-submodule", "caches-and-patterns", "waiting-pool"],
)
def test_imports_pools_and_caches_are_no_work_of_its_own(build: Build, name: str) -> None:
    found = costs(build, name)
    assert isinstance(found, HiddenCosts)
    assert found.seconds == 0.0


@pytest.mark.parametrize(
    ("kept", "honest"), [("parts-kept", "unchanged"), ("parts-kept-of-quick-calls", "quick-calls")]
)
def test_parts_that_are_kept_from_other_inputs_are_told(build: Build, kept: str, honest: str) -> None:
    found = costs(build, kept)
    assert isinstance(found, Fault)
    assert found.reason is Reason.CHEATING
    assert "get cheaper by what went before" in found.detail
    again = costs(build, honest)
    assert isinstance(again, HiddenCosts)
    assert again.evidence["by_earlier_calls"] < 0.001


@pytest.mark.corpus
def test_a_library_that_sets_itself_up_at_its_first_call_is_not_charged(build: Build) -> None:
    pytest.importorskip("torch", reason="torch is not installed")
    found = costs(build, "library-set-up")
    assert isinstance(found, HiddenCosts)
    assert found.evidence["before_the_calls"] < 0.005


def test_work_that_goes_on_after_the_answer_is_told(build: Build) -> None:
    found = costs(build, "busy-thread")
    assert isinstance(found, Fault)
    assert found.reason is Reason.CHEATING
    assert "still works after its answer" in found.detail


def test_memory_that_grows_from_call_to_call_is_told(build: Build) -> None:
    found = costs(build, "memory-kept")
    assert isinstance(found, Fault)
    assert found.reason is Reason.CHEATING
    assert "keeps memory from call to call" in found.detail


def test_a_buffer_that_is_used_again_is_fine(build: Build) -> None:
    found = costs(build, "buffer-used-again")
    assert isinstance(found, HiddenCosts)
    assert found.seconds == 0.0
