"""Rungs that whet does not know, brought by plug-ins: the one of the manual, and some that are of no use."""

from __future__ import annotations

from pathlib import Path

import pytest
from brought import install, manual
from unique import GOOD, SLOW, workload

import whet
from whet.core.result import Result, Status
from whet.core.store import Store
from whet.core.verdict import Reason, Rung, RungStatus
from whet.evaluators.evidence.consistency import contradictions
from whet.evaluators.evidence.record import bundle_of
from whet.evaluators.extra_rungs import GROUP

PLUGIN = manual("plugins.md", "length_rung.py")


@pytest.fixture
def target(site: Path, tmp_path: Path, scripted) -> str:
    scripted(ratio=4.0, looks=None)
    (tmp_path / "slow.py").write_text(SLOW)
    (tmp_path / "workload.py").write_text(workload(4, 20, 40))
    return f"{tmp_path}/slow.py::unique"


def verified(target: str, text: str, **options) -> Result:
    folder = Path(target.partition("::")[0]).parent
    (folder / "answer.py").write_text(text)
    return whet.verify(target, candidate=folder / "answer.py", home=folder / "home", seed=1, **options)


def rung(result: Result, name: str) -> Rung:
    return next(each for each in result.rungs if each.name == name)


@pytest.mark.corpus(one_in=8)
def test_it_is_taken_before_measuring_and_stands_in_the_evidence(site: Path, target: str, tmp_path: Path) -> None:
    install(site, GROUP, "RUNG", length=PLUGIN)
    result = verified(target, GOOD)
    assert result.status is Status.IMPROVED
    names = [each.name for each in result.rungs]
    assert names.index("prove") + 1 == names.index("length") == names.index("measure") - 1
    lines = GOOD.count("\n")
    assert (rung(result, "length").detail, rung(result, "length").evidence) == (f"{lines} lines", {"lines": lines})
    store = Store(tmp_path / "home")
    try:
        assert contradictions(bundle_of(store, result.run)) == []
    finally:
        store.close()


def test_what_it_says_no_to_is_rejected_and_not_measured(site: Path, target: str) -> None:
    install(site, GROUP, "RUNG", length=PLUGIN)
    result = verified(target, GOOD + "\n" * 40 + "more = 1\n")
    assert result.status is Status.REJECTED
    assert (result.rungs[-1].name, result.rungs[-1].reason) == ("length", Reason.FORBIDDEN_CONSTRUCT)


def test_it_is_not_taken_where_less_is_asked_for(site: Path, target: str) -> None:
    install(site, GROUP, "RUNG", length=PLUGIN)
    found = rung(verified(target, GOOD, until="differential"), "length")
    assert (found.status, found.reason) == (RungStatus.SKIPPED, Reason.NOT_ASKED)


@pytest.mark.corpus(one_in=8)
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import nowhere_at_all\n", "the plug-in length (length_for_whet:RUNG) of whet.rungs cannot be used"),
        ("RUNG = 3\n", "is no ExtraRung but 3"),
        (
            PLUGIN.replace("    lines, before", "    1 / 0\n    lines, before"),
            "the plug-in length of whet.rungs failed: ZeroDivisionError",
        ),
    ],
    ids=["fails", "else", "raises"],
)
def test_one_of_no_use_is_named_and_the_rest_works(site: Path, target: str, text: str, said: str) -> None:
    install(site, GROUP, "RUNG", length=text)
    result = verified(target, GOOD, until="measure")
    assert rung(result, "measure").status is RungStatus.PASSED
    assert (rung(result, "length").status, rung(result, "length").reason) == (RungStatus.SKIPPED, Reason.TOOL_MISSING)
    assert said in rung(result, "length").detail
