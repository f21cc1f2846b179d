"""``whet bench self mutants``: how often the oracle accepts a wrong program, by mutants of whet's own tasks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from whet.benchmarks.self.campaigns.campaign import Item, ItemResult, Measure, Record, Status, chosen, digest
from whet.benchmarks.self.campaigns.oracle import target_folder
from whet.benchmarks.tasks import reasons
from whet.core.audit import Audit, MutantOutcome, Rate
from whet.core.options import Options
from whet.evaluators.audit import audit_task
from whet.evaluators.targets import read_task

TASKS = ("dedup-events", "job-queue", "largest-lake", "log-report", "tidy-text", "word-counts")
"""Those whose mutants have all been looked at, so that each survivor is a finding; all tasks would take some hours."""
STATEFUL = (
    "event-totals",
    "extent",
    "hit-counter",
    "journal",
    "metered-spread",
    "recently-used",
    "stock-left",
    "tally-calls",
)
"""Targets that keep state, likewise."""
MUTANTS = 120
"""A task: no task dominates, and all of them together give more than 500."""
SEED = 20260101


@dataclass(frozen=True, slots=True)
class MutationResult:
    """What one task's differential rung makes of its mutants.

    Attributes:
        audit: of the task, without its own tests.
        excused: reasons of mutants that cannot be told from the target, by id.
    """

    audit: Audit
    excused: Mapping[str, str]

    @property
    def killable(self) -> tuple[MutantOutcome, ...]:
        """The mutants that ran and that nothing excuses; one that was killed needs no excuse."""
        return tuple(m for m in self.audit.ran if m.killed_by is not None or m.id not in self.excused)

    @property
    def finding(self) -> ItemResult:
        """As it is kept: a survivor that nothing excuses is wrong."""
        killable = self.killable
        survivors = [f"{m.id}, line {m.line}, {m.operator}" for m in killable if m.killed_by is None]
        facts = {
            "ran": len(self.audit.ran),
            "killable": len(killable),
            "killed": len(killable) - len(survivors),
            "usual": sum(bool(mutant.usual) for mutant in killable),
            "survivors": survivors,
        }
        line = f"{facts['killed']} of {facts['killable']} killed" + "".join(f"; survivor: {one}" for one in survivors)
        return ItemResult(Status.WRONG if survivors else Status.RIGHT, line, facts)


class Mutants:
    """The mutants of one task are an item."""

    name = "mutants"

    def __init__(self, ids: Sequence[str] = (), seed: int = SEED, most: int = MUTANTS) -> None:
        """Chooses tasks.

        Args:
            ids: of `TASKS` and `STATEFUL`; none for all.
            seed: of mutants and inputs.
            most: mutants of each task.

        Raises:
            UsageError: there is no such task.
        """
        self.seed = seed
        self._most = most
        self.items = tuple(Item(name, f"{most} of {digest(target_folder(name))}") for name in (*TASKS, *STATEFUL))
        self.asked = chosen(self.items, ids)

    @contextmanager
    def opened(self) -> Iterator[Measure]:
        """See `whet.benchmarks.self.campaigns.campaign.Campaign.opened`."""

        def measure(item: Item) -> ItemResult:
            folder = target_folder(item.id)
            task = read_task(str(folder), Options())
            return MutationResult(audit_task(task, Options(seed=self.seed), self._most), reasons(folder)).finding

        yield measure

    def table(self, records: Sequence[Record]) -> Iterator[str]:
        """See `whet.benchmarks.self.campaigns.campaign.Campaign.table`."""
        yield "| task | mutants | excused | killed by the differential rung | usual protocol |"
        yield "|---" * 5 + "|"
        measured = [(record.id, record.facts) for record in records if record.facts]
        names = ("ran", "killable", "killed", "usual")
        total = {name: sum(facts[name] for _, facts in measured) for name in names}
        for name, facts in (*measured, ("all", total)):
            killed, usual = (Rate(facts[one], facts["killable"]) for one in ("killed", "usual"))
            excused = facts["ran"] - facts["killable"]
            yield f"| {name} | {facts['ran']} | {excused} | {killed.hits} of {killed.trials}: {killed} | {usual} |"
        yield ""
        excused = (total["ran"] - total["killable"]) / max(1, total["ran"])
        killed = Rate(total["killed"], total["killable"])
        yield f"excused {excused:.1%} (at most 5 %), killed {killed.share:.2%} (goal 99 %); exact 95 % bounds"
        for name, facts in measured:
            yield from (f"survivor: {name} {one}" for one in facts["survivors"])
