"""What lies outside the calls is judged under each set of flags: a text can ask which it is built with."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from whet.core.candidate import Candidate
from whet.core.options import Options
from whet.core.verdict import Verdict
from whet.evaluators.artifacts import Artifact, Builder
from whet.evaluators.ladder import open_ladder
from whet.evaluators.meters.base import Meter
from whet.evaluators.targets import read_task
from whet.evaluators.timing.bench import Bench
from whet.evaluators.timing.hidden_costs import HiddenCosts
from whet.evaluators.timing.measuring import Measuring
from whet.evaluators.timing.process_observation import Calls
from whet.evaluators.timing.statistics import Stage, StoppingPlan
from whet.sandbox.toolchains import native
from whet.testing.scripted_meter import Script, ScriptedInstruments, ScriptedMeter

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")

TOTAL = """#include <stdint.h>
uint64_t total(const uint32_t *numbers, int64_t n)
{
    uint64_t sum = 0;
    for (int64_t i = 0; i < n; i++) sum += numbers[i];
    return sum;
}
"""
TASK = """
[task]
name = "total"
language = "c"
target = "total.c"
symbol = "total"
[signature]
prototype = "uint64_t total(const uint32_t *numbers, int64_t n)"
numbers = {length = "n"}
n = {role = "size", min = 0}
[workload]
sizes = [40]
"""
GAIN = 4.0
LOOKS = (Stage(3, 1.0),)
"""Three turns that agree have p = 1/8."""
CHARGED = 0.002
"""Seconds of a pass, of which the candidate's has 6.25 ms: 4x becomes 3.03x."""


class HiddenUnder(ScriptedInstruments):
    """Finds costs outside the calls of what was built with some flags, and of nothing else."""

    def __init__(self, flags: tuple[str, ...]) -> None:
        super().__init__(Script(GAIN, looks=StoppingPlan(LOOKS, LOOKS, LOOKS)))
        self._flags = flags

    def hidden_costs(self, baseline: Artifact, candidate: Artifact, calls: Calls) -> HiddenCosts:
        """See `ScriptedInstruments.hidden_costs`."""
        hides = candidate.tree == candidate.builder.build(candidate.source, self._flags).tree
        return HiddenCosts(CHARGED, {"charged_seconds": CHARGED}) if hides else HiddenCosts(0.0, {})


def logged(log: list[str], what: str, call: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a call that says so."""

    def called(*given: Any) -> Any:
        log.append(what)
        return call(*given)

    return called


def test_what_is_written_in_assembly_is_held_against_both_compilers_and_c_against_its_own(tmp_path: Path) -> None:
    (tmp_path / "total.c").write_text(TOTAL)
    (tmp_path / "whet.toml").write_text(TASK)
    task = read_task(str(tmp_path), Options())
    ours = ((), native.TUNED)
    by_clang = tuple((native.BY_CLANG, *flags) for flags in ours if native.found("clang"))
    assert native.variants(task, TOTAL.replace("i++", "++i")) == ours
    assert native.variants(task, "    .globl total\ntotal:\n    ret\n") == (*ours, *by_clang)


def test_nothing_is_built_once_it_is_timed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "total.c").write_text(TOTAL)
    (tmp_path / "whet.toml").write_text(TASK)
    settings = Options(confidence=0.8)
    log: list[str] = []
    candidate = Candidate(TOTAL.replace("i++", "++i"))
    instruments = ScriptedInstruments(Script(GAIN, looks=StoppingPlan(LOOKS, LOOKS, LOOKS)))
    with closing(open_ladder(read_task(str(tmp_path), settings), settings, 1, instruments=instruments)) as ladder:
        screened = ladder.screen(candidate)
        ladder.validate()
        monkeypatch.setattr(Builder, "_build", logged(log, "built", Builder._build))
        monkeypatch.setattr(Measuring, "timed", logged(log, "timed", Measuring.timed))
        assert ladder.confirm(candidate, screened).confirmed
    further = len(native.variants(ladder.task, candidate.source)) - 1
    assert log == ["built", "built"] * further + ["timed"]


class Lengthening(ScriptedInstruments):
    """Looks for how many rounds passes need, as a real meter has it done."""

    def meter(self, name: str, builder: Builder) -> Meter:
        """See `ScriptedInstruments.meter`."""
        meter = super().meter(name, builder)
        assert isinstance(meter, ScriptedMeter)
        meter.lengthens = True
        return meter


@pytest.mark.parametrize(("gain", "thrown_away"), [(2.0, 1), (4.0, 2)], ids=["enough", "too-few"])
def test_under_further_flags_the_turn_that_shows_the_rounds_counts_where_those_of_the_first_are_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gain: float, thrown_away: int
) -> None:
    """Scripted passes last the same whatever their rounds: of a gain of 4x, 6.25 ms where 10 are wanted."""
    (tmp_path / "total.c").write_text(TOTAL)
    (tmp_path / "whet.toml").write_text(TASK)
    settings = Options(confidence=0.8)
    log: list[str] = []
    candidate = Candidate(TOTAL.replace("i++", "++i"))
    instruments = Lengthening(Script(gain, looks=StoppingPlan(LOOKS, LOOKS, LOOKS)))
    monkeypatch.setattr(Bench, "turn", logged(log, "turn", Bench.turn))
    with closing(open_ladder(read_task(str(tmp_path), settings), settings, 1, instruments=instruments)) as ladder:
        ladder.validate()
        confirmed = ladder.confirm(candidate, Verdict(candidate.id, ()))
    rows = confirmed.rungs[-1].evidence["measurements"]
    assert [len(row["raw"]["turns"]) for row in rows] == [3] * len(rows)
    assert len(rows) == 2
    assert len(log) == 3 * 2 + thrown_away


def test_costs_that_one_set_of_flags_hides_are_charged_though_its_ratio_is_not_the_least(tmp_path: Path) -> None:
    (tmp_path / "total.c").write_text(TOTAL)
    (tmp_path / "whet.toml").write_text(TASK)
    settings = Options(confidence=0.8)
    task = read_task(str(tmp_path), settings)
    instruments = HiddenUnder(native.TUNED)
    candidate = Candidate(TOTAL.replace("i = 0; i < n; i++", "i = n - 1; i >= 0; i--"))
    with closing(open_ladder(task, settings, 1, instruments=instruments)) as ladder:
        ladder.validate()
        confirmed = ladder.confirm(candidate, Verdict(candidate.id, ()))
    assert confirmed.confirmed
    rows = confirmed.rungs[-1].evidence["measurements"]
    assert len(rows) == len(native.variants(task, candidate.source)) > 1
    ratios = {tuple(row["flags"]): row["speedup"]["ratio"] for row in rows}
    charged = ratios.pop(native.TUNED)
    assert charged == pytest.approx(25 / (25 / GAIN + 2), rel=0.01)
    assert list(ratios.values()) == [pytest.approx(GAIN, rel=0.01)] * len(ratios)
    assert confirmed.measurement is not None
    assert confirmed.measurement.speedup.ratio == charged
