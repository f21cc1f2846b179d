"""Kills drivers, the workers that do their work and hosts, at random moments that a seed draws."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from whet.benchmarks.self.scale.aftermath import Aftermath, aftermath
from whet.benchmarks.self.scale.driving import Script
from whet.core.errors import WhetError
from whet.sandbox.process_tree import GONE, tree

WORKERS = ("whet.sandbox.workers.child", "ray::Agent")
"""What the command line of a process has in it that does work, keeps what does, or gives it out on its host."""
SPAN = 8.0
"""A round of kills takes half of it, in times that a driver takes to begin: it comes to its work, and not far."""
SEED = 20_261_123
PRELOADED = ["whet.benchmarks.self.scale.driving", "ray"]


class Victim(StrEnum):
    """What is killed."""

    DRIVER = "driver"
    WORKER = "worker"
    RAYLET = "raylet"


@dataclass(frozen=True, slots=True)
class Kill:
    """A kill to come.

    Attributes:
        victim: of what kind.
        after: the driver began, or since the last kill: a share of the longest time, from 0 to 1.
        draw: which of several; from 0 to 1.
    """

    victim: Victim
    after: float
    draw: float


def schedule(seed: int, victims: tuple[Victim, ...]) -> Iterator[Kill]:
    """Yields kills without an end, those of each round in random order, at moments that a seed draws."""
    drawn = random.Random(seed)
    while True:
        yield from (Kill(victim, drawn.random(), drawn.random()) for victim in drawn.sample(victims, len(victims)))


class Killer:
    """Has scripts worked on by drivers that are killed, one script after the other.

    Args:
        script: its folder is replaced, script by script.
        victims: what is killed in each round of kills.
        kill_host: kills a host, by a draw; where there are any.

    Attributes:
        killed: so far, by kind.
        found: of scripts that have ended.
    """

    def __init__(
        self, script: Script, victims: tuple[Victim, ...], kill_host: Callable[[float], None] | None = None
    ) -> None:
        self.killed: Counter[Victim] = Counter()
        self.found: list[Aftermath] = []
        self._script = script
        self._victims = victims
        self._kills = schedule(SEED, victims)
        self._longest = 0.0
        self._kill_host = kill_host
        # A server that has imported all and forks from there: a start takes milliseconds, and no thread is forked.
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(PRELOADED)

    def run(self, kills: int) -> Iterator[Aftermath]:
        """Yields what each script comes to, until there were so many kills."""
        self._longest = SPAN * min(self.undisturbed(number) for number in range(2)) / len(self._victims)
        while self.killed.total() < kills:
            script = replace(self._script, folder=self._script.folder / str(len(self.found)))
            while self._killed(script):
                pass
            self.found.append(aftermath(script))
            yield self.found[-1]

    def undisturbed(self, number: int) -> float:
        """Returns the seconds that a driver takes to begin, and to come to the end of a short script."""
        script = replace(self._script, folder=self._script.folder / f"undisturbed {number}", rounds=1)
        began = time.perf_counter()
        driver = self._begun(script)
        driver.join()
        _expect_killed(driver, script)
        return time.perf_counter() - began

    def _killed(self, script: Script) -> bool:
        """Works on a script until its driver is killed, whose workers and hosts may be before; False where it ended."""
        driver = self._begun(script)
        while driver.is_alive():
            kill = next(self._kills)
            driver.join(kill.after * self._longest)
            if not driver.is_alive():
                break
            if kill.victim is Victim.DRIVER:
                driver.kill()
                driver.join()
                self.killed[Victim.DRIVER] += driver.exitcode == -signal.SIGKILL
            elif kill.victim is Victim.WORKER:
                self.killed[Victim.WORKER] += kill_worker(kill.draw)
            elif self._kill_host is not None:
                self._kill_host(kill.draw)
                self.killed[Victim.RAYLET] += 1
        _expect_killed(driver, script)
        return bool(driver.exitcode)

    def _begun(self, script: Script) -> Any:
        driver = self._context.Process(target=drive, args=(script,))
        driver.start()
        return driver


def _expect_killed(driver: Any, script: Script) -> None:
    """Raises where a driver ended by itself before all was done."""
    if driver.exitcode not in (0, -signal.SIGKILL):
        said = output_of(script).read_text(encoding="utf-8").strip().rpartition("\n")[2]
        raise WhetError(f"a driver failed by itself: {said}")


def drive(script: Script) -> None:
    """Works on a script; what Ray and a driver that fails say goes into a file."""
    output = output_of(script)
    output.parent.mkdir(parents=True, exist_ok=True)
    with output.open("a") as file:
        for stream in (sys.stdout, sys.stderr):
            os.dup2(file.fileno(), stream.fileno())
    script.work()


def output_of(script: Script) -> Path:
    """Returns the file with what the drivers of a script said."""
    return script.folder / "output"


def kill_worker(draw: float) -> bool:
    """Kills one of the processes below this one that do work; False where there is none."""
    found = [pid for pid in tree(os.getpid()) if _works(pid)]
    with suppress(ProcessLookupError):
        if found:
            os.kill(found[int(draw * len(found))], signal.SIGKILL)
            return True
    return False


def _works(pid: int) -> bool:
    with suppress(*GONE):
        words = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
        return any(mark in words for mark in WORKERS)
    return False
