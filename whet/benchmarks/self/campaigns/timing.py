"""``whet bench self timing``: how often the decision rule is wrong on this machine, beside the rules of others."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

from whet.benchmarks.self.campaigns.campaign import Item, ItemResult, Measure, Record, Status, chosen
from whet.benchmarks.self.peers import peers
from whet.benchmarks.self.pool import SampledProcesses, measure_pool, replay
from whet.benchmarks.self.rules import rules
from whet.benchmarks.self.steady_load import CONDITIONS, IDLE, beside
from whet.benchmarks.self.targets import write_targets
from whet.core.audit import Rate
from whet.core.candidate import Candidate
from whet.core.options import Options
from whet.core.task import Task
from whet.core.verdict import Verdict
from whet.evaluators.inputs.source import derive
from whet.evaluators.ladder import Ladder, open_ladder
from whet.evaluators.languages.registry import language_of_task
from whet.evaluators.timing.statistics import NOISY

PROCESSES = 300
"""Fresh processes in each pool."""
TRIALS = 1000
"""Replays of each rule over two identical programs; half as many for each true speedup."""
BLOCKS, BLOCK = 5, 10
"""Live verdicts on a twin of each target come in blocks: a kill loses at most one of them."""
SEED = 20260101
SPEEDUPS = (1.0, 1.03, 1.05)
"""True speedups that are replayed: at 1 each win is an error, the others show how often small gains are found. Each
adds a column, and replays of every rule. Beside other work there is the first alone."""
OPTIONS = Options(min_speedup=1.01)
MOST_WRONG = 1 - OPTIONS.confidence
"""The error that the rule promises: an item is wrong where its exact 95 % bounds lie above that."""
TARGETS = {"python": "Python function", "cpp": "C++ program"}
REPLAYED, LIVE, PEERS = "replayed", "live", "peers"
POOLS = {REPLAYED if condition == IDLE else f"{REPLAYED}-{condition}": condition for condition in CONDITIONS}
"""Items, and what else the machine does while the processes of their pools are timed."""
OURS = "whet"


class Timing:
    """For each of two targets: rules replayed over pools of processes, blocks of live verdicts, and other tools."""

    name = "timing"

    def __init__(self, ids: Sequence[str] = (), seed: int = SEED) -> None:
        """Chooses items.

        Args:
            ids: such as ``python:replayed``, ``python:replayed-one-busy``, ``cpp:live-1``, ``cpp:peers``; none for all.
            seed: of inputs and replays.

        Raises:
            UsageError: there is no such item.
        """
        self.seed = seed
        parts = (*POOLS, *(f"{LIVE}-{number}" for number in range(1, BLOCKS + 1)), PEERS)
        self.items = tuple(Item(f"{target}:{part}") for target in TARGETS for part in parts)
        self.asked = chosen(self.items, ids)

    @contextmanager
    def opened(self) -> Iterator[Measure]:
        """See `whet.benchmarks.self.campaigns.campaign.Campaign.opened`."""
        with ExitStack() as stack:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="whet-self-"))
            tasks = write_targets(Path(folder))
            ladders: dict[str, Ladder] = {}

            def ladder_of(target: str) -> Ladder:
                if target not in ladders:
                    ladder = open_ladder(tasks[TARGETS[target]], OPTIONS, derive(self.seed, target))
                    ladders[target] = stack.enter_context(closing(ladder))
                    ladder.validate()
                return ladders[target]

            def measure(item: Item) -> ItemResult:
                target, _, part = item.id.partition(":")
                task = tasks[TARGETS[target]]
                if part == PEERS:
                    return asked_peers(task)
                if part in POOLS:
                    ladder = ladder_of(target)
                    with beside(POOLS[part]):
                        pool = measure_pool(TARGETS[target], ladder, PROCESSES)
                    return replayed(pool, TRIALS, self.seed, SPEEDUPS if part == REPLAYED else SPEEDUPS[:1])
                return live(task, ladder_of(target), int(part.rpartition("-")[2]))

            yield measure

    def table(self, records: Sequence[Record]) -> Iterator[str]:
        """See `whet.benchmarks.self.campaigns.campaign.Campaign.table`."""
        kept = {record.id: record.facts for record in records if record.facts}
        yield f"--min-speedup {OPTIONS.min_speedup:g}, --confidence {OPTIONS.confidence:g}; exact 95 % bounds"
        for target, name in TARGETS.items():
            for part, condition in POOLS.items():
                if facts := kept.get(f"{target}:{part}"):
                    yield from _rules(f"{name}, {condition}", facts)
            if blocks := [facts for id, facts in kept.items() if id.startswith(f"{target}:{LIVE}")]:
                wins, verdicts, noisy = (sum(one[key] for one in blocks) for key in ("wins", "verdicts", "disturbed"))
                yield (
                    f"{name}, live: {verdicts} verdicts on a twin of itself: false wins {Rate(wins, verdicts)}, "
                    f"{noisy} on a machine that was never quiet"
                )
            for peer, (hits, trials) in kept.get(f"{target}:{PEERS}", {}).items():
                yield f"{name}, live: {peer}: false wins {Rate(hits, trials)}"


def replayed(pool: SampledProcesses, trials: int, seed: int, speedups: Sequence[float] = SPEEDUPS) -> ItemResult:
    """Replays every rule over a pool; wrong where a rule of whet's errs more often than it promises."""
    found: dict[str, dict[str, Any]] = {}
    for number, (name, (data, decide)) in enumerate(rules(pool).items()):
        rates = [
            replay(decide, pool, speedup, trials if speedup == 1.0 else trials // 2, derive(seed, number, speedup))
            for speedup in speedups
        ]
        found[name] = {"data": data, "rates": [[rate.hits, rate.trials] for rate in rates]}
    ours = {name: Rate(*rule["rates"][0]) for name, rule in found.items() if name.startswith(OURS)}
    facts = {
        "processes": len(pool.seconds),
        "spread": pool.spread,
        "turn_seconds": pool.turn_seconds,
        "turns": len(pool.turns),
        "disturbed": pool.disturbed,
        "rules": found,
    }
    line = f"{len(pool.seconds)} processes; A/A false wins: " + ", ".join(f"{name} {r}" for name, r in ours.items())
    return ItemResult(_status(*ours.values()), line, facts)


def live(task: Task, ladder: Ladder, block: int, verdicts: int = BLOCK) -> ItemResult:
    """Measures twins of a target for real."""
    wins = disturbed = 0
    for number in range((block - 1) * verdicts, block * verdicts):
        # A comment more: another text, so other inputs and layouts, and the same program.
        twin = Candidate(f"{task.source}{language_of_task(task).comment} {number}\n")
        verdict = ladder.measure(twin, Verdict(twin.id, ()), NOISY.verdict)
        assert verdict.measurement is not None, verdict.rungs[-1].detail
        wins += verdict.measurement.faster
        disturbed += verdict.measurement.disturbed
    line = f"{wins} false wins in {verdicts} verdicts, {disturbed} on a machine that was never quiet"
    return ItemResult(_status(Rate(wins, verdicts)), line, {"verdicts": verdicts, "wins": wins, "disturbed": disturbed})


def asked_peers(task: Task) -> ItemResult:
    """Runs the tools of others on a program against itself; what they say is their own affair."""
    found: dict[str, list[int]] = {}
    for peer in peers(task):
        if peer.lacking:
            return ItemResult(Status.MISSING, f"{peer.name}: {peer.lacking}", {})
        rate = peer.false_wins(task)
        found[peer.name] = [rate.hits, rate.trials]
    line = "; ".join(f"{name}: false wins {Rate(*rate)}" for name, rate in found.items())
    return ItemResult(Status.RIGHT, line, found)


def _status(*wins: Rate) -> Status:
    return Status.WRONG if any(rate.bounds[0] > MOST_WRONG for rate in wins) else Status.RIGHT


def _rules(name: str, facts: Mapping[str, Any]) -> Iterator[str]:
    yield ""
    yield (
        f"{name}: {facts['processes']} fresh processes, sd {facts['spread'] * 100:.2f} %, "
        f"{facts['turn_seconds']:.2f} s a turn, {facts['disturbed']} of {facts['turns']} turns disturbed"
    )
    yield ""
    shown = SPEEDUPS[: max(len(found["rates"]) for found in facts["rules"].values())]
    yield "| rule | data | " + " | ".join(_heading(speedup) for speedup in shown) + " |"
    yield "|---" * (2 + len(shown)) + "|"
    for rule, found in facts["rules"].items():
        yield f"| {rule} | {found['data']} | " + " | ".join(str(Rate(*rate)) for rate in found["rates"]) + " |"
    yield ""


def _heading(speedup: float) -> str:
    return "A/A false wins" if speedup == 1.0 else f"true {speedup:g}x found"
