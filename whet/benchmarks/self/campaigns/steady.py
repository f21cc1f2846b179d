"""``whet bench self steady``: whether a verdict stays the same, and true, when the machine also does other work."""

from __future__ import annotations

import math
import statistics
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from whet.benchmarks.self.campaigns.campaign import Item, ItemResult, Measure, Record, Status, chosen
from whet.benchmarks.self.steady_load import CONDITIONS, beside
from whet.benchmarks.self.steady_targets import GAINS, WRONG, SteadyTarget, steady_targets
from whet.benchmarks.self.steady_truth import true_gain
from whet.core.audit import Rate
from whet.core.measurement import WALL
from whet.core.result import Result
from whet.core.result import Status as Answer
from whet.evaluators.inputs.source import derive
from whet.evaluators.verify import verify

SEED = 20260101
VERDICTS = 20
"""Of each target in each condition."""
TRUTH = "truth"
SAME = "1.00x"
SURE = tuple(gain for gain in GAINS if gain not in (SAME, "1.05x"))
"""Gains that every verdict has to show."""
COLUMNS = (
    "target",
    "true gain",
    "condition",
    "verdicts",
    "answers",
    "ratios",
    "ratios off by more than 10 %",
    "intervals that hold the truth",
    "seconds, median",
)


class Steady:
    """Items are ``TARGET:truth``, and ``TARGET:CONDITION:NUMBER`` for a verdict."""

    name = "steady"

    def __init__(self, ids: Sequence[str] = (), seed: int = SEED) -> None:
        """Chooses items.

        Args:
            ids: of items, or of targets, conditions, or both (``c-2x``, ``idle``, ``c-2x:idle``); none for all.
            seed: from which that of each verdict derives.

        Raises:
            UsageError: there is no such item.
        """
        self.seed = seed
        self._targets = {target.name: target for target in steady_targets()}
        items: dict[Item, set[str]] = {}
        for name, target in self._targets.items():
            if target.gain != WRONG:
                items[Item(f"{name}:{TRUTH}")] = {name, TRUTH}
        for number in range(1, VERDICTS + 1):
            for name in self._targets:
                for condition in CONDITIONS:
                    items[Item(f"{name}:{condition}:{number}")] = {name, condition, f"{name}:{condition}"}
        self.items = tuple(items)
        wanted = {one for one in ids if any(one in groups for groups in items.values())}
        named = chosen(self.items, [one for one in ids if one not in wanted]) if set(ids) - wanted else ()
        self.asked = tuple(item for item, groups in items.items() if not ids or groups & wanted or item in named)

    @contextmanager
    def opened(self) -> Iterator[Measure]:
        """See `whet.benchmarks.self.campaigns.campaign.Campaign.opened`."""
        yield self._measure

    def _measure(self, item: Item) -> ItemResult:
        name, condition, *_ = item.id.split(":")
        target = self._targets[name]
        with tempfile.TemporaryDirectory(prefix="whet-self-") as place:
            # The sandbox's unprivileged user reads the target.
            Path(place).chmod(0o755)
            folder = Path(place) / "target"
            folder.mkdir()
            if condition == TRUTH:
                true = true_gain(target, folder)
                line = f"{true.by_cpu.ratio:.4g}x by CPU seconds, {true.by_clock.ratio:.4g}x by the clock"
                return ItemResult(Status.RIGHT, line, asdict(true))
            asked, rewrite = target.write(folder)
            with beside(condition):
                result = verify(asked, candidate=rewrite, home=Path(place) / "state", seed=derive(self.seed, item.id))
            return judged(target, result)

    def table(self, records: Sequence[Record]) -> Iterator[str]:
        """See `whet.benchmarks.self.campaigns.campaign.Campaign.table`."""
        truth = {record.id.split(":")[0]: record.facts for record in records if _where(record) == TRUTH}
        taken = [record for record in records if _where(record) != TRUTH and record.facts]
        yield f"| {' | '.join(COLUMNS)} |"
        yield "|---" * len(COLUMNS) + "|"
        for name in self._targets:
            for condition in CONDITIONS:
                if found := [one.facts for one in taken if one.id.startswith(f"{name}:{condition}:")]:
                    yield _row(name, truth.get(name, {}), condition, found)
        yield ""
        for condition in CONDITIONS:
            yield from _goals(condition, [record for record in taken if _where(record) == condition], truth)


def judged(target: SteadyTarget, result: Result) -> ItemResult:
    """Returns what a verdict came to; wrong where another answer is demanded."""
    speedup = result.speedup
    figures: dict[str, Any] = {}
    if speedup is not None:
        figures = {"ratio": speedup.ratio, "low": speedup.low, "high": speedup.high, "clock": speedup.clock}
    facts = {"answer": result.status.value, "seconds": result.seconds, "message": result.message, **figures}
    shown = f" {speedup.ratio:.4g}x ({speedup.low:.4g} to {speedup.high:.4g})" if speedup else ""
    improved = result.status is Answer.IMPROVED
    if target.gain == WRONG:
        right = result.status is Answer.REJECTED
    elif target.gain == SAME:
        right = result.status is Answer.NO_IMPROVEMENT
    else:
        right = improved or (target.gain not in SURE and result.status is Answer.NO_IMPROVEMENT)
    line = f"{result.status.value}{shown}, {result.seconds:.1f} s; {result.message}"
    return ItemResult(Status.RIGHT if right else Status.WRONG, line, facts)


def _where(record: Record) -> str:
    """Returns the condition of a verdict, or `TRUTH`."""
    return record.id.split(":")[1]


def _goals(condition: str, taken: Sequence[Record], truth: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    shown = [(truth.get(one.id.split(":")[0]), one.facts) for one in taken if one.facts.get("ratio")]
    pairs = [(_known(true, facts), facts) for true, facts in shown if true]
    if pairs:
        held = sum(_meets(known, facts) for known, facts in pairs)
        within = sum(bool(facts["low"] <= known["ratio"] <= facts["high"]) for known, facts in pairs)
        yield f"{condition}: intervals that hold the truth: {Rate(held, len(pairs))}; goal at least 97 %"
        yield f"{condition}: intervals that hold the median of the truth: {Rate(within, len(pairs))}"
    if same := [one.facts["answer"] for one in taken if f"-{SAME}:" in one.id]:
        wins = Rate(same.count(Answer.IMPROVED.value), len(same))
        yield f"{condition}: equal programs called faster: {wins}; goal at most 0.5 %"


def _row(name: str, true: Mapping[str, Any], condition: str, found: Sequence[Mapping[str, Any]]) -> str:
    answers = [facts["answer"] for facts in found]
    told = ", ".join(f"{answers.count(one)} {one}" for one in dict.fromkeys(sorted(answers)))
    ratios = sorted(facts["ratio"] for facts in found if facts.get("ratio"))
    middle = statistics.median(ratios) if ratios else math.nan
    off = sum(abs(math.log(one / middle)) > math.log(1.1) for one in ratios)
    held = sum(_meets(_known(true, facts), facts) for facts in found if facts.get("ratio")) if true else 0
    seconds = statistics.median(facts["seconds"] for facts in found)
    shown = f"{ratios[0]:.4g} to {ratios[-1]:.4g}, median {middle:.4g}" if ratios else ""
    holds = f"{held} of {len(ratios)}" if true else ""
    cells = (name, _told(true), condition, len(found), told, shown, f"{off} of {len(ratios)}", holds, f"{seconds:.1f}")
    return f"| {' | '.join(map(str, cells))} |"


def _told(true: Mapping[str, Any]) -> str:
    """Returns a true gain in words; by the clock too where that is another."""
    if not true:
        return ""
    by_cpu, by_clock = (
        "{ratio:.4g}x ({low:.4g} to {high:.4g})".format(**true[clock]) for clock in ("by_cpu", "by_clock")
    )
    return by_cpu if by_cpu == by_clock else f"{by_clock} by the clock, {by_cpu} in CPU seconds"


def _known(true: Mapping[str, Any], facts: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the true gain by the clock or in CPU seconds, as a verdict is."""
    found: Mapping[str, Any] = true["by_clock" if facts["clock"] == WALL else "by_cpu"]
    return found


def _meets(known: Mapping[str, Any], facts: Mapping[str, Any]) -> bool:
    """Whether an interval holds the true gain, which is measured too and known no better than its interval says."""
    return bool(facts["low"] <= known["high"] and known["low"] <= facts["high"])
