"""``whet bench self attacks``: each attack on each sandbox, with all protections on and without what holds it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

from whet.benchmarks.self.campaigns.campaign import Item, ItemResult, Measure, Record, Status, chosen
from whet.core.errors import UsageError
from whet.testing.attacks.strike import CORPUS, MAKERS, PLAIN, Broken
from whet.testing.attacks.table import Row, faults, plain_rows, rows, text
from whet.testing.engine import NoEngine, docker_engine

ATTACKS = {attack.name: attack for attack in CORPUS}


class Attacks:
    """Every attack on every backend. The secrets that it is after are drawn anew each time, so there is no seed."""

    name = "attacks"
    seed = 0

    def __init__(self, ids: Sequence[str] = ()) -> None:
        """Chooses attacks.

        Args:
            ids: such as ``bubblewrap:fork-bomb``; none for all.

        Raises:
            UsageError: there is no such attack.
        """
        names = [f"{backend}:{attack.name}" for backend in MAKERS for attack in CORPUS]
        names += [f"{PLAIN}:{attack.name}" for attack in CORPUS if attack.plain]
        self.items = tuple(map(Item, names))
        self.asked = chosen(self.items, ids)

    @contextmanager
    def opened(self) -> Iterator[Measure]:
        """See `whet.benchmarks.self.campaigns.campaign.Campaign.opened`."""
        with ExitStack() as stack:
            no_engine = _started(stack) if any(item.id.startswith("docker:") for item in self.asked) else ""

            def measure(item: Item) -> ItemResult:
                backend, _, name = item.id.partition(":")
                if backend == "docker" and no_engine:
                    return ItemResult(Status.MISSING, no_engine, {})
                return _struck(backend, name)

            yield measure

    def table(self, records: Sequence[Record]) -> Iterator[str]:
        """See `whet.benchmarks.self.campaigns.campaign.Campaign.table`."""
        yield from text(rows_of(records)).splitlines()


def rows_of(records: Sequence[Record]) -> list[Row]:
    """Returns what came of the attacks that were tried, from what was kept of them."""
    return [
        Row(ATTACKS[name], backend, tuple(row["off"]), row["escaped"])
        for record in records
        for backend, _, name in [record.id.partition(":")]
        for row in record.facts.get("rows", ())
    ]


def _struck(backend: str, name: str) -> ItemResult:
    attack = (ATTACKS[name],)
    try:
        done = list(plain_rows(attack) if backend == PLAIN else rows(backend, attack))
    except Broken as error:
        return ItemResult(Status.WRONG, str(error), {})
    except UsageError as error:
        return ItemResult(Status.MISSING, str(error), {})
    wrong = faults(done)
    facts = {"rows": [{"off": list(row.off), "escaped": row.escaped} for row in done]}
    line = "; ".join(wrong) or f"{len(done)} tries as expected"
    return ItemResult(Status.WRONG if wrong else Status.RIGHT, line, facts)


def _started(stack: ExitStack) -> str:
    """Starts a docker engine where none answers; returns why there is none, empty where there is one."""
    try:
        host = stack.enter_context(docker_engine())
    except NoEngine as error:
        return str(error)
    if host is not None:
        os.environ["DOCKER_HOST"] = host
        stack.callback(os.environ.pop, "DOCKER_HOST")
    return ""
