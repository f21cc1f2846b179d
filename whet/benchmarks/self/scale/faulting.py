"""``whet bench self scale``, the faults: drivers, workers and raylets killed at random moments."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from whet.benchmarks.self.scale.aftermath import Aftermath, over_all
from whet.benchmarks.self.scale.driving import Script
from whet.benchmarks.self.scale.hosts import Hosts
from whet.benchmarks.self.scale.killing import Killer, Victim
from whet.benchmarks.self.scale.places import surrounded
from whet.benchmarks.self.scale.saying import missed

ON_RAY = (Victim.DRIVER, *[Victim.WORKER] * 4)
"""A driver takes seconds to connect, and an agent to start: more kills a driver are more in the same time."""
HOSTS = (Victim.RAYLET,) * 4
"""No driver is killed, so that nothing has to wait until one has begun."""
KILLS, RAYLETS = 200, 20
"""Kills of drivers and workers at least, on local processes and again on Ray, and kills of raylets at least. More show
rarer faults and take longer."""
ROUNDS, LONGER = 60, 200
"""Rounds of a script, and of one beside which no driver is killed. Longer scripts meet more kills before their results
are checked."""


def kills(kills: int = KILLS, rounds: int = ROUNDS) -> Iterator[str]:
    """Yields what kills of drivers and of workers came to, first on local processes and then on Ray.

    Args:
        kills: on each.
        rounds: of a script.
    """
    with tempfile.TemporaryDirectory(prefix="whet-self-") as folder, surrounded(WHET_HOME=folder):
        home = Path(folder)
        script = Script(home / "local", home, "local:2", rounds)
        yield from _report("local processes", Killer(script, (Victim.DRIVER, Victim.WORKER)), kills)
        with Hosts(slots=2) as hosts:
            script = Script(home / "ray", home, hosts.address, rounds)
            yield from _report("Ray, a cluster that stands", Killer(script, ON_RAY), kills)


def raylets(kills: int = RAYLETS, rounds: int = LONGER) -> Iterator[str]:
    """Yields what kills of raylets came to.

    Args:
        kills: of raylets other than the driver's own, each of which another one takes the place of.
        rounds: of a script.
    """
    with tempfile.TemporaryDirectory(prefix="whet-self-") as folder, surrounded(WHET_HOME=folder):
        home = Path(folder)
        with Hosts(slots=0, others=3) as hosts:
            script = Script(home / "ray", home, hosts.address, rounds)
            killer = Killer(script, HOSTS, hosts.kill)
            yield from _report("Ray, three raylets beside the head's", killer, kills)


def _report(where: str, killer: Killer, kills: int) -> Iterator[str]:
    """Yields a line for each script that came to its end, and one for all."""
    for found in killer.run(kills):
        yield f"  {killer.killed.total()} kills so far; {_faults(found)}"
    every = over_all(killer.found)
    killed = ", ".join(f"{count} of {victim}s" for victim, count in killer.killed.items())
    yield (
        f"{where}: {killer.killed.total()} kills at random moments ({killed}), {len(killer.found)} scripts, "
        f"{every.results} results, {every.replies} replies"
    )
    yield f"  {_faults(every)}; goal 0 of each{missed(every.total > 0)}"
    yield f"  executions that came to nothing, and were begun again: {every.executions - every.results}"


def _faults(found: Aftermath) -> str:
    return (
        f"results {found.faults}; finished work begun again {found.repeated}; recorded replies asked for again "
        f"{found.asked_again}; questions that no ledger knows {found.unaccounted}; that strayed {found.strayed}"
    )
