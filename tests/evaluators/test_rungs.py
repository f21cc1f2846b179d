"""The climb through the rungs before measuring, and what a timed rung says of its measurement."""

from __future__ import annotations

from dataclasses import replace

import pytest
from scripted_turns import decide

from whet.core.rungs import CHECKS
from whet.core.verdict import Reason, RungStatus
from whet.evaluators.finding import BaselineLost, Fault, Finding, Passed, RungEndedError, Skipped, found_by, sound
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


def test_what_ends_a_rung_from_within_becomes_its_value_at_the_border() -> None:
    said: list[str] = []
    for finding, status in (
        (Fault(Reason.CRASH, "gone"), RungStatus.FAILED),
        (BaselineLost(Reason.NONDETERMINISTIC, "odd"), RungStatus.INCONCLUSIVE),
        (Skipped(Reason.TOOL_MISSING, "no tool"), RungStatus.SKIPPED),
    ):

        def check(finding: Fault | Skipped = finding) -> Finding:
            raise RungEndedError(finding)

        verdict = climbed("one", {"build": check, "hazard": passed(said, "hazard")}, None)
        rung = verdict.rung("build")
        assert rung is not None
        assert (rung.status, rung.reason, rung.detail) == (status, finding.reason, finding.detail)
    assert said == ["hazard"], "what is skipped ends nothing"


def test_a_fault_ends_the_work_and_anything_else_goes_on() -> None:
    fault = Fault(Reason.CRASH, "gone")
    assert sound("fine") == "fine"
    assert found_by(lambda: sound(None)) is None
    assert found_by(lambda: sound(fault)) is fault
    with pytest.raises(ZeroDivisionError):
        found_by(lambda: 1 // 0)


def test_what_this_processor_cannot_run_ends_the_checks_without_a_fault() -> None:
    said: list[str] = []
    absent = Skipped(Reason.UNSUPPORTED_CPU, "no AVX-512 here")
    verdict = climbed("one", {"build": lambda: absent, "differential": passed(said, "differential")}, None)
    assert said == []
    assert {rung.reason for rung in verdict.rungs[1:]} == {Reason.UNSUPPORTED_CPU}
    assert not verdict.failed
