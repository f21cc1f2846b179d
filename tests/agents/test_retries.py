"""The rule of retries on scripted verdicts: what is measured again, how often, and what never is."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from retries import MOST_IN_A_RUN, MOST_IN_A_TEST, Answer, Finding, Retries, gain, loss, no_gain, settle

RIGHT, NOT_SHOWN, WRONG = (Finding(answer, answer.value) for answer in Answer)


def settled(findings: list[Finding], run: Retries) -> tuple[Finding, list[tuple[int, str]], int]:
    """Returns what came of scripted findings, the retries that were reported, and how many findings were not taken."""
    left: Iterator[Finding] = iter(findings)
    said: list[tuple[int, str]] = []
    found = settle(lambda: next(left), run, lambda number, why: said.append((number, why)))
    return found, said, len(list(left))


@pytest.mark.parametrize("final", [RIGHT, WRONG], ids=lambda one: one.answer)
@pytest.mark.parametrize("before", range(MOST_IN_A_TEST + 1))
def test_what_is_not_shown_is_measured_again_and_each_retry_is_told(before: int, final: Finding) -> None:
    run = Retries()
    found, said, left = settled([NOT_SHOWN] * before + [final, RIGHT], run)
    assert found == final
    assert said == [(number, "not shown") for number in range(1, before + 1)]
    assert run.taken == before
    assert left == 1, "a right or a wrong answer is final"


def test_what_is_never_shown_fails_in_the_end() -> None:
    found, said, left = settled([NOT_SHOWN] * (MOST_IN_A_TEST + 1) + [RIGHT], Retries())
    assert found == NOT_SHOWN
    assert len(said) == MOST_IN_A_TEST
    assert left == 1


def test_retries_are_counted_over_the_run() -> None:
    run = Retries()
    assert settled([NOT_SHOWN, NOT_SHOWN, RIGHT], run)[0] == RIGHT
    assert settled([RIGHT], run)[0] == RIGHT
    assert run.taken == 2
    assert settled([NOT_SHOWN] * (MOST_IN_A_RUN - 2) + [RIGHT], run)[0] == RIGHT
    found, said, left = settled([NOT_SHOWN, RIGHT], run)
    assert (found, said, left) == (NOT_SHOWN, [], 1), "the run has no retry left"
    assert settled([RIGHT], run)[0] == RIGHT


def verdict(status: str, reason: str | None = None, low: float | None = None) -> dict[str, object]:
    rungs = [{"name": "build", "status": "passed", "reason": None, "detail": "compiles"}]
    if reason:
        rungs.append({"name": "measure", "status": "failed", "reason": reason, "detail": "two\nlines"})
    speedup = {"ratio": low * 1.1, "low": low, "high": low * 1.2} if low else None
    return {"status": status, "rungs": rungs, "speedup": speedup, "message": "said"}


@pytest.mark.parametrize(
    ("document", "as_gain", "as_loss", "as_none"),
    [
        (verdict("improved", low=3.0), Answer.RIGHT, Answer.WRONG, Answer.WRONG),
        (verdict("improved", low=1.5), Answer.NOT_SHOWN, Answer.WRONG, Answer.WRONG),
        (verdict("no_improvement", "not_faster", 0.9), Answer.NOT_SHOWN, Answer.NOT_SHOWN, Answer.RIGHT),
        (verdict("no_improvement", "slower", 0.2), Answer.WRONG, Answer.RIGHT, Answer.WRONG),
        (verdict("no_improvement"), Answer.WRONG, Answer.WRONG, Answer.WRONG),
        (verdict("rejected", "wrong_output"), Answer.WRONG, Answer.WRONG, Answer.WRONG),
        (verdict("rejected", "cheating"), Answer.WRONG, Answer.WRONG, Answer.RIGHT),
        (verdict("rejected", "not_faster"), Answer.WRONG, Answer.WRONG, Answer.RIGHT),
        (verdict("baseline_invalid", "not_faster"), Answer.WRONG, Answer.WRONG, Answer.WRONG),
    ],
)
def test_each_verdict_means_what_the_test_demands(
    document: dict[str, object], as_gain: Answer, as_loss: Answer, as_none: Answer
) -> None:
    assert gain(document, 2.0).answer is as_gain
    assert loss(document).answer is as_loss
    assert no_gain(document, ("not_faster", "cheating")).answer is as_none


def test_the_why_is_one_line_with_the_figures() -> None:
    assert gain(verdict("no_improvement", "not_faster", 1.0), 2.0).why == (
        "no_improvement not_faster: 1.100 (1.000 to 1.200); two lines"
    )
    assert loss(verdict("improved")).why == "improved : no figures; said"
