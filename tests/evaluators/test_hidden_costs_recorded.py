"""What recorded processes cost outside timed calls: real observations, judged without a clock.

Each recording holds two looks at one of the pairs that `test_hidden_costs` runs live.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from hidden_candidates import PAIRS, REPEATED, SECONDS, Pair, building
from recordings import Recording, code_of, hashes_of

from whet.core.plain import from_plain, to_plain
from whet.core.verdict import Reason
from whet.evaluators import preloads, stopwatch
from whet.evaluators.artifacts import Artifact
from whet.evaluators.evidence.unpaid import charged_seconds, odd_costs
from whet.evaluators.finding import Fault, Skipped, found_by
from whet.evaluators.inputs.source import Input
from whet.evaluators.timing import hidden_costs, process_observation, repeats, round_observation
from whet.evaluators.timing.hidden_costs import LOOKS, HiddenCosts, assess, confirmed
from whet.evaluators.timing.process_observation import Observation, observe
from whet.evaluators.timing.repeats import assess_rounds
from whet.evaluators.timing.round_observation import RoundObservation, observe_rounds
from whet.evaluators.timing.workloads import TimedWorkload

RULE = code_of(hidden_costs, process_observation, preloads, stopwatch)
RULE_OF_ROUNDS = code_of(hidden_costs, repeats, round_observation, stopwatch)
TOLD = {
    "parts-kept": "get cheaper by what went before",
    "parts-kept-of-quick-calls": "get cheaper by what went before",
    "busy-thread": "still works after its answer",
    "memory-kept": "keeps memory from call to call",
}
CHARGED = (
    "table-while-loading",
    "table-at-first-call",
    "table-in-a-thread",
    "table-in-a-child",
    "first-input-cheaper-and-table",
    "first-input-dearer-and-table",
)
FREE = tuple(name for name in PAIRS if name not in TOLD and name not in CHARGED)

Build = Callable[[Pair], tuple[Artifact, Artifact]]
Looks = Callable[[str], list[Observation]]
RoundLooks = Callable[[str], list[RoundObservation]]


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Build]:
    """Asked for only where a recording is made anew."""
    with building(tmp_path_factory.mktemp("squares")) as build:
        yield build


def recording_of(name: str, pair: Pair, rule: str) -> Recording:
    inputs = "\n".join([str(pair.part), str(pair.longer), *(payload.hex() for payload in pair.payloads)])
    return Recording(
        f"hidden_costs/{name}", hashes_of(target=pair.target, candidate=pair.candidate, inputs=inputs, rule=rule)
    )


@pytest.fixture
def looks(recorded: Callable[..., Any], request: pytest.FixtureRequest) -> Looks:
    """Returns two looks at a pair."""

    def of(name: str) -> list[Observation]:
        pair = PAIRS[name]

        def make() -> list[Any]:
            sides = request.getfixturevalue("build")(pair)
            return [to_plain(observe(*sides, pair.calls, processes)) for processes in LOOKS]

        return [from_plain(Observation, one) for one in recorded(recording_of(name, pair, RULE), make)]

    return of


@pytest.fixture
def round_looks(recorded: Callable[..., Any], request: pytest.FixtureRequest) -> RoundLooks:
    """Returns two looks at the rounds of a pair, at those on its last inputs."""

    def of(name: str) -> list[RoundObservation]:
        pair = REPEATED[name]

        def work(start: int) -> TimedWorkload:
            part = [Input("calls", payload) for payload in pair.payloads[start : start + pair.part]]
            return TimedWorkload(f"from {start}", 10 * pair.part, lambda seed, count: part[:count], rounds=10)

        def make() -> list[Any]:
            sides = request.getfixturevalue("build")(pair)
            works = [work(start) for start in range(0, len(pair.payloads), pair.part)]
            return [to_plain(observe_rounds(*sides, works, 1, SECONDS)[works[-1].name]) for _ in range(2)]

        return [from_plain(RoundObservation, one) for one in recorded(recording_of(name, pair, RULE_OF_ROUNDS), make)]

    return of


def judged(seen: list[Observation], part: int) -> HiddenCosts | Fault | Skipped:
    left = iter(seen)
    return found_by(lambda: confirmed(lambda processes: assess(next(left), part)))


@pytest.mark.parametrize("name", TOLD)
def test_what_is_left_unpaid_is_told(looks: Looks, name: str) -> None:
    found = judged(looks(name), PAIRS[name].part)
    assert isinstance(found, Fault)
    assert found.reason is Reason.CHEATING
    assert TOLD[name] in found.detail


@pytest.mark.parametrize("name", CHARGED)
def test_work_before_the_second_call_is_charged(looks: Looks, name: str) -> None:
    found = judged(looks(name), PAIRS[name].part)
    assert isinstance(found, HiddenCosts)
    assert 0.01 < found.evidence["before_the_calls"] <= found.seconds < 2.0


@pytest.mark.parametrize("name", FREE)
def test_honest_candidates_are_charged_nothing(looks: Looks, name: str) -> None:
    found = judged(looks(name), PAIRS[name].part)
    assert isinstance(found, HiddenCosts)
    assert found.seconds == 0.0


@pytest.mark.parametrize("name", PAIRS)
def test_the_original_owes_nothing_to_itself(looks: Looks, name: str) -> None:
    for one in looks(name):
        itself = assess(replace(one, candidate=one.baseline), PAIRS[name].part)
        assert itself.seconds == 0.0


@pytest.mark.parametrize("name", [*CHARGED, "busy-thread", "memory-kept"])
def test_a_debt_of_the_original_is_none_of_the_candidates(looks: Looks, name: str) -> None:
    for one in looks(name):
        turned = assess(replace(one, baseline=one.candidate, candidate=one.baseline), PAIRS[name].part)
        assert turned.evidence["before_the_calls"] == 0.0


@pytest.mark.parametrize("name", [name for name in REPEATED if name != "rounds-computed"])
def test_rounds_that_a_cache_saves_are_charged(round_looks: RoundLooks, name: str) -> None:
    for seen in round_looks(name):
        charged = assess_rounds(seen, REPEATED[name].part)
        assert seen.seconds_in_a_pass is not None
        ours, theirs = seen.seconds_in_a_pass.baseline, seen.seconds_in_a_pass.candidate
        computing = min(known for _, known in ours) - max(known for _, known in theirs)
        assert charged > 0.7 * 9 * computing > 0


def test_rounds_that_save_nothing_are_not_charged(round_looks: RoundLooks) -> None:
    pair = REPEATED["rounds-computed"]
    assert min(assess_rounds(one, pair.part) for one in round_looks("rounds-computed")) == 0.0


# What evidence says of them


def raw_of(name: str, looks: Looks, round_looks: RoundLooks) -> dict[str, Any]:
    """As a measurement has it whose candidate paid for these."""
    pair, rounds = PAIRS[name], round_looks("rounds-cached")[0]
    costs = assess(looks(name)[0], pair.part)
    again = {"calls": {**to_plain(rounds), "charged_seconds": assess_rounds(rounds, 20)}}
    works = [{"name": "size 3000", "count": pair.part}, {"name": "calls", "count": 200}]
    return {"workloads": works, "turns": [], "hidden_costs": {**costs.evidence, "by_repeats": again}}


@pytest.mark.parametrize("name", [*CHARGED, *FREE])
def test_evidence_follows_from_its_observations(looks: Looks, round_looks: RoundLooks, name: str) -> None:
    assert list(odd_costs(raw_of(name, looks, round_looks))) == []


NOT_AS_SHOWN = "its hidden costs are not as their observations show"
EDITS: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "a smaller charge": (lambda costs: costs.update(charged_seconds=costs["charged_seconds"] / 2), NOT_AS_SHOWN),
    "a smaller part of it": (lambda costs: costs.update(before_the_calls=0.0), NOT_AS_SHOWN),
    "quicker loading": (lambda costs: costs["sides"]["candidate"][2].update(loading=0.0), NOT_AS_SHOWN),
    "a busy process": (
        lambda costs: (
            costs["sides"]["candidate"][-1].update(idle=0.9) or costs["sides"]["candidate"][0].update(idle=0.9)
        ),
        "hidden costs show cheating",
    ),
    "a smaller charge by repeats": (
        lambda costs: costs["by_repeats"]["calls"].update(charged_seconds=0.0),
        "its costs by repeats of calls are not as their observations show",
    ),
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_of_the_evidence_is_named(looks: Looks, round_looks: RoundLooks, edit: str) -> None:
    change, said = EDITS[edit]
    raw = raw_of("table-while-loading", looks, round_looks)
    change(raw["hidden_costs"])
    assert any(said in line for line in odd_costs(raw))


def test_turns_are_charged_with_both_kinds_of_costs(looks: Looks, round_looks: RoundLooks) -> None:
    costs = raw_of("table-while-loading", looks, round_looks)["hidden_costs"]
    both = costs["charged_seconds"] + costs["by_repeats"]["calls"]["charged_seconds"]
    assert charged_seconds(costs) == both > costs["charged_seconds"] > 0
    assert charged_seconds({}) == 0.0
