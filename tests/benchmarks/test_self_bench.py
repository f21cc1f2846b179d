"""What ``whet bench self`` says of whet: rates with their bounds, and rules that see the truth of a pool."""

from __future__ import annotations

import itertools
import math
import random
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from whet.benchmarks.self import peers, verdicts
from whet.benchmarks.self.campaigns import timing
from whet.benchmarks.self.campaigns.campaign import Record, Status
from whet.benchmarks.self.pool import SampledProcesses, as_long, exchanged, replay
from whet.benchmarks.self.rules import hyperfine_rule, mean_rule, pyperf_rule, rules, stretches, whet_rule
from whet.benchmarks.self.targets import write_targets, written_input
from whet.core.audit import Rate
from whet.evaluators.processes import Pass
from whet.evaluators.timing.plan import TimingPlan
from whet.evaluators.timing.statistics import Stage
from whet.evaluators.timing.turns import SIDES, Turn

STAGES = (Stage(10, 0.4), Stage(20, 0.6))


def pool(noise: float, drift: float, turns: int = 100, seed: int = 3) -> SampledProcesses:
    """Returns processes of 50 ms with white noise, on a machine whose speed wanders slowly."""
    rng = random.Random(seed)
    made = []
    for turn in range(turns):
        wander = drift * math.sin(turn / 12)
        times = [0.05 * math.exp(wander + rng.gauss(0, noise)) for _ in SIDES]
        passes = {side: Pass(one, one, one, ()) for side, one in zip(SIDES, times, strict=True)}
        made.append(Turn(SIDES, 0.0, {"made up": passes}))
    return SampledProcesses("made up", tuple(made), 0.3)


def test_a_rate_has_exact_bounds() -> None:
    # Clopper and Pearson 1934: with no hit in n, the upper bound is 1 - (alpha/2)^(1/n).
    assert Rate(0, 100).bounds == pytest.approx((0.0, 1 - 0.025 ** (1 / 100)))
    assert str(Rate(5, 1000)) == "0.5 % (0.2 to 1.2)"


@pytest.mark.corpus
def test_a_drifting_machine_fools_what_times_one_after_the_other_and_not_pairs() -> None:
    wandering = pool(noise=0.01, drift=0.05)
    assert replay(mean_rule(15, 1.02), wandering, 1.0, 200, 1).share > 0.05
    assert replay(pyperf_rule(15), wandering, 1.0, 200, 1).share > 0.05
    assert replay(whet_rule(TimingPlan(STAGES)), wandering, 1.0, 200, 1).share <= 0.01


def test_a_true_gain_is_found_in_spite_of_drift() -> None:
    assert replay(whet_rule(TimingPlan(STAGES)), pool(noise=0.01, drift=0.05), 1.05, 60, 1).share > 0.9


def test_hyperfine_asks_for_more_than_its_own_spread() -> None:
    calm = pool(noise=0.001, drift=0.0)
    assert replay(hyperfine_rule(15), calm, 1.05, 50, 1).share == 1.0
    assert replay(hyperfine_rule(15), pool(noise=0.05, drift=0.0), 1.02, 50, 1).share < 0.5


def test_a_process_takes_what_is_known_of_it_to_the_side_that_it_plays() -> None:
    waits = dict(zip(SIDES, (0.0, 0.02, 0.04), strict=True))
    passes = {
        side: Pass(0.06 + wait, 0.05, 0.05, (), ran=0.055, waited=wait, pace=wait + 1) for side, wait in waits.items()
    }
    measured = Turn(SIDES, 0.0, {"a": passes, "b": passes})
    rng = random.Random(1)
    turns = [exchanged(measured, rng, 2.0) for _ in range(30)]
    assert {tuple(turn.passes["a"][side].waited for side in SIDES) for turn in turns} == set(
        itertools.permutations(waits.values())
    )
    for turn in turns:
        assert turn.passes["a"] == turn.passes["b"]  # a process is timed on both
        came = [turn.passes["a"][side] for side in turn.order]
        assert [one.waited for one in came] == list(waits.values())
        assert all(one.pace == one.waited + 1 for one in came)
        candidate = turn.passes["a"]["candidate"]
        assert (candidate.inside, candidate.cpu, candidate.ran) == pytest.approx((0.025, 0.025, 0.03))
        assert candidate.outside - candidate.inside == pytest.approx(0.01 + candidate.waited)


def test_a_candidate_with_more_calls_counts_for_as_many_as_the_others() -> None:
    passes = {side: Pass(0.06, 0.05, 0.05, ()) for side in SIDES}
    longer = {**passes, "candidate": Pass(0.11, 0.1, 0.1, ())}
    turn = as_long(Turn(SIDES, 0.0, {"a": longer, "b": passes}, scale={"a": 2.0}))
    assert turn == Turn(SIDES, 0.0, {"a": passes, "b": passes})


def test_turns_that_the_machine_disturbed_are_dropped_in_a_replay_too() -> None:
    """In one turn of three a process takes twice as long; where it is known to have waited, the turn has no part."""
    calm = pool(noise=0.003, drift=0.0)

    def slowed(waited: float | None) -> SampledProcesses:
        late = Pass(0.1, 0.1, 0.1, (), ran=0.05, waited=waited)
        turns = [
            turn if number % 3 else replace(turn, passes={"made up": {**turn.passes["made up"], "again": late}})
            for number, turn in enumerate(calm.turns)
        ]
        return replace(calm, turns=tuple(turns))

    known, unknown = slowed(0.05), slowed(None)
    assert (calm.disturbed, known.disturbed, unknown.disturbed) == (0, 34, 0)
    found = [replay(whet_rule(TimingPlan(STAGES)), each, 1.05, 40, 1).share for each in (known, unknown)]
    assert found[0] > 0.9 > 0.8 > found[1]


@pytest.mark.parametrize("seed", range(4))
def test_stretches_carry_the_true_speedup_whichever_came_first(seed: int) -> None:
    ours, theirs = stretches(pool(noise=0.0, drift=0.0), random.Random(seed), 10, 1.25)
    assert sum(ours) / sum(theirs) == pytest.approx(1.25)


def test_a_table_has_every_rule_and_every_speedup() -> None:
    made = pool(noise=0.01, drift=0.0)
    found = timing.replayed(made, 3, 7)
    record = Record("python:replayed", "", "", 1.0, found.status, found.line, found.facts)
    shown = list(timing.Timing().table([record]))
    lines = [line for line in shown if line.startswith("|")]
    assert len(lines) == 2 + len(rules(made))
    assert all(line.count("|") == 3 + len(timing.SPEEDUPS) for line in lines)
    assert any("sd 1." in line for line in shown)


def test_a_rule_is_wrong_only_where_the_bounds_say_so() -> None:
    assert timing._status(Rate(0, 10)) is Status.RIGHT
    assert timing._status(Rate(1, 10)) is Status.RIGHT
    assert timing._status(Rate(5, 10)) is Status.WRONG
    assert timing._status(Rate(6, 1000), Rate(30, 1000)) is Status.WRONG


def test_blocks_of_live_verdicts_are_added_up() -> None:
    facts = ({"verdicts": 10, "wins": 1, "disturbed": 2}, {"verdicts": 10, "wins": 0, "disturbed": 1})
    kept = [Record(f"cpp:live-{n}", "", "", 1.0, Status.RIGHT, "", one) for n, one in enumerate(facts, 1)]
    kept.append(Record("cpp:peers", "", "", 1.0, Status.RIGHT, "", {"hyperfine": [1, 10]}))
    shown = list(timing.Timing().table(kept))
    assert shown[1].startswith("C++ program, live: 20 verdicts on a twin of itself: false wins 5.0 % (0.1 to 24.9)")
    assert shown[1].endswith("3 on a machine that was never quiet")
    assert shown[2].startswith("C++ program, live: hyperfine: false wins 10.0 %")


@pytest.mark.corpus
@pytest.mark.parametrize("language", ["python", "cpp"])
def test_a_peer_is_run_for_real_or_says_how_to_get_it(language: str, tmp_path: Path) -> None:
    task = next(task for task in write_targets(tmp_path / "targets").values() if task.language == language)
    (peer,) = peers.peers(task)
    if peer.lacking:
        assert peer.lacking.startswith(("pip install", "apt-get install"))
        return
    assert peer.faster(task, 0, tmp_path) in (True, False)
    assert [path for path in tmp_path.rglob("*.json") if path.stat().st_size]


def test_the_program_reads_what_the_workload_makes(tmp_path: Path) -> None:
    task = next(task for task in write_targets(tmp_path).values() if task.language == "cpp")
    assert written_input(task, 1).split()[1] == b"180000"
    assert written_input(task, 1) != written_input(task, 2)


def test_an_unknown_report_names_the_nearest(whet) -> None:
    done = whet("bench", "self", "timng")
    assert done.returncode == 2
    assert "timing" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.corpus
@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
def test_verdicts_are_counted_by_kind_with_their_rate_and_cost() -> None:
    isolation, _, _, *rows = list(verdicts.report(candidates=2, batches=(2,)))
    assert "backend bubblewrap" in isolation
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    number, lists = verdicts.TARGETS
    assert [(row[0], row[1], row[2], row[-1]) for row in cells] == [
        (number, "right", "2", "2 right"),
        (number, "wrong", "2", "2 wrong_output"),
        (number, "crashing", "2", "2 crash"),
        (lists, "right", "2", "2 right"),
    ]
    assert all(float(row[4].removesuffix(" ms")) > 0 for row in cells)
