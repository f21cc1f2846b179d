"""``whet bench self oracle``: how often the oracle rejects a right program. `mutants` measures the opposite error."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from whet.benchmarks.self.campaigns.campaign import Item, ItemResult, Measure, Record, Status, chosen, digest
from whet.benchmarks.tasks import task_folder, task_names
from whet.core.audit import Rate
from whet.core.candidate import Candidate
from whet.core.options import Options
from whet.core.task import Task
from whet.evaluators.inputs.source import derive
from whet.evaluators.ladder import open_ladder
from whet.evaluators.languages.registry import language_of_task
from whet.evaluators.targets import read_task
from whet.testing.stateful import corpus

TWINS = 3
"""Texts of the target with another comment, for each task: each meets inputs of its own."""
SEED = 20260101
LAST = "hazard"
"""The last rung that compares outcomes."""


class OracleErrors:
    """Right programs for one target are an item: its best known version or honest rewrite, and twins of it.

    Targets are whet's own tasks, and those that keep state.
    """

    name = "oracle"

    def __init__(self, ids: Sequence[str] = (), seed: int = SEED, twins: int = TWINS) -> None:
        """Chooses tasks.

        Args:
            ids: of targets; none for all.
            seed: of the inputs.
            twins: of each target.

        Raises:
            UsageError: there is no such task.
        """
        self.seed = seed
        self._twins = twins
        names = (*task_names(), *corpus.names())
        self.items = tuple(Item(name, f"{twins} and {digest(target_folder(name))}") for name in names)
        self.asked = chosen(self.items, ids)

    @contextmanager
    def opened(self) -> Iterator[Measure]:
        """See `whet.benchmarks.self.campaigns.campaign.Campaign.opened`."""
        yield lambda item: judged(item.id, derive(self.seed, item.id), self._twins)

    def table(self, records: Sequence[Record]) -> Iterator[str]:
        """See `whet.benchmarks.self.campaigns.campaign.Campaign.table`."""
        yield "| task | right programs | rejected | seconds of the differential rung |"
        yield "|---" * 4 + "|"
        measured = [(record.id, record.facts) for record in records if record.facts]
        for name, facts in measured:
            seconds = f"{statistics.median(facts['seconds']):.2f}" if facts["seconds"] else ""
            yield f"| {name} | {facts['tried']} | {len(facts['rejected'])} | {seconds} |"
        wrong = Rate(sum(len(facts["rejected"]) for _, facts in measured), sum(facts["tried"] for _, facts in measured))
        yield ""
        yield f"right programs rejected: {wrong.hits} of {wrong.trials}: {wrong}; exact 95 % bounds"
        for name, facts in measured:
            yield from (f"rejected: {name}: {one}" for one in facts["rejected"])


def judged(name: str, seed: int, twins: int) -> ItemResult:
    """Judges right programs for one task."""
    options = Options(until=LAST)
    task = read_task(str(target_folder(name)), options)
    rejected, seconds = [], []
    programs = _programs(task, twins)
    with closing(open_ladder(task, options, seed)) as ladder:
        ladder.validate()
        for what, source in programs.items():
            verdict = ladder.check(Candidate(source))
            if verdict.failed is not None:
                rejected.append(f"{what}: {verdict.failed.name} {verdict.failed.reason}")
            if rung := verdict.rung("differential"):
                seconds.append(round(rung.seconds, 3))
    line = f"{len(programs) - len(rejected)} of {len(programs)} accepted" + "".join(f"; {one}" for one in rejected)
    facts = {"tried": len(programs), "rejected": rejected, "seconds": seconds}
    return ItemResult(Status.WRONG if rejected else Status.RIGHT, line, facts)


def target_folder(name: str) -> Path:
    """Returns the folder of one of whet's own tasks, or of a target that keeps state."""
    return corpus.REWRITES / name if name in corpus.names() else task_folder(name)


def _programs(task: Task, twins: int) -> dict[str, str]:
    (best,) = (path for form in ("best.*", "honest.*") for path in task.path.parent.glob(form))
    comment = language_of_task(task).comment
    changed = {f"twin {number}": f"{task.source}{comment} {number}\n" for number in range(twins)}
    return {"best version": best.read_text(encoding="utf-8"), **changed}
