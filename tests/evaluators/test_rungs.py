"""The climb through the rungs before measuring, and what a timed rung says of its measurement."""

from __future__ import annotations

from dataclasses import replace

from scripted_turns import decide

from whet.core.rungs import CHECKS
from whet.core.verdict import Reason, RungStatus
from whet.evaluators.finding import Fault, Finding, Passed, Skipped
from whet.evaluators.rungs import Check, climbed, conclusion, measured
from whet.evaluators.timing.decision import least


def test_a_rung_begins_with_what_its_measurement_comes_to() -> None:
    one, other = decide({"a": 2.0}), decide({"a": 1.5})
    assert measured("confirm", one, 1.0).detail == one.note
    several = least([replace(one, speedup=replace(one.speedup, baseline="plain")), other])
    assert conclusion(several) == f"against {other.speedup.baseline}: {other.note}"
    # Evidence is checked against this: a third party derives the measurement from its samples.
    assert measured("confirm", several, 1.0).detail.startswith(conclusion(several))


def passed(said: list[str], name: str) -> Check:
    def check() -> Finding:
        said.append(name)
        return Passed(name)

    return check


def test_checks_are_made_in_the_order_of_the_rungs_however_they_are_given() -> None:
    said: list[str] = []
    names = ("hazard", "length", "screen", "differential", "alone")
    verdict = climbed("one", {name: passed(said, name) for name in names}, None)
    assert said == ["screen", "differential", "hazard", "alone", "length"], "those of plug-ins come last, by name"
    assert [rung.name for rung in verdict.rungs] == [*CHECKS, "alone", "length"]
    lacking = [rung for rung in verdict.rungs if rung.status is RungStatus.SKIPPED]
    assert {rung.name: rung.detail for rung in lacking} == dict.fromkeys(
        ("build", "test", "prove"), "nothing to check with"
    )


def test_the_first_that_fails_is_the_last_and_what_was_not_asked_for_is_not_made() -> None:
    said: list[str] = []
    wrong = {"build": lambda: Fault(Reason.BUILD_ERROR, "no"), "differential": passed(said, "differential")}
    assert [rung.name for rung in climbed("one", wrong, None).rungs] == ["screen", "build"]
    asked = climbed("one", {name: passed(said, name) for name in CHECKS}, "build")
    assert said == ["screen", "build"]
    assert {rung.detail for rung in asked.rungs[2:]} == {"--until build"}


def test_what_this_processor_cannot_run_ends_the_checks_without_a_fault() -> None:
    said: list[str] = []
    absent = Skipped(Reason.UNSUPPORTED_CPU, "no AVX-512 here")
    verdict = climbed("one", {"build": lambda: absent, "differential": passed(said, "differential")}, None)
    assert said == []
    assert {rung.reason for rung in verdict.rungs[1:]} == {Reason.UNSUPPORTED_CPU}
    assert not verdict.failed
