"""Kernel and hardware events, by ``perf stat -j``."""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from whet.core.counter import Counter, counted, missing
from whet.sandbox.counters.process import PATIENCE, PROBE, Silent, run

SOURCE = "perf"
HARDWARE = ("instructions", "cycles", "branch-misses", "cache-misses")
SOFTWARE = ("task-clock", "page-faults", "context-switches", "cpu-migrations")
UNITS = {"task-clock": "ms"}
ABSENT = {
    "<not supported>": "the processor, or the virtual machine around it, offers no such counter",
    "<not counted>": "the kernel never scheduled it",
}


def count(argv: Sequence[str], events: Sequence[str] = HARDWARE + SOFTWARE) -> tuple[Counter, ...]:
    """Runs one of our own commands and returns a counter an event.

    Args:
        argv: what to run, on the host: never a candidate.
        events: as perf names them.
    """
    tool = shutil.which("perf")
    if tool is None:
        return _without(events, "perf is not installed: apt install linux-perf")
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.json")
        try:
            run([tool, "stat", "-j", "-o", str(report), "-e", ",".join(events), "--", *argv])
        except Silent as silent:
            return _without(events, str(silent))
        found = {counter.name: counter for counter in parse(report.read_text("utf-8", "replace"))}
    return _in_order(found, events)


def count_others(
    pids: Sequence[int], work: Callable[[], object], events: Sequence[str] = HARDWARE + SOFTWARE
) -> tuple[Counter, ...]:
    """Counts from outside what processes, and those that they start, do while some work goes on.

    Args:
        pids: the processes, by their numbers out here.
        work: has them do something; called once, counted or not.
        events: as perf names them.
    """
    tool = shutil.which("perf")
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.json")
        try:
            if tool is None:
                raise Silent("perf is not installed: apt install linux-perf")
            if not pids:
                raise Silent("the sandbox's processes are not to be seen from here")
            attached = _Attached(
                [tool, "stat", "-j", "-o", str(report), "-e", ",".join(events), "-p", ",".join(map(str, pids))]
            )
        except Silent as silent:
            work()
            return _without(events, str(silent))
        try:
            work()
        finally:
            attached.end()
        found = {counter.name: counter for counter in parse(report.read_text("utf-8", "replace"))}
    return _in_order(found, events)


class _Attached:
    """A perf that counts from when it is made until it is ended."""

    def __init__(self, argv: list[str]) -> None:
        heard, orders = os.pipe2(os.O_CLOEXEC)
        self._answers, answer = os.pipe2(os.O_CLOEXEC)
        self._orders = orders
        try:
            self._process = subprocess.Popen(
                [*argv, "-D", "-1", "--control", f"fd:{heard},{answer}"],
                pass_fds=(heard, answer),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                env={"LC_ALL": "C"},
            )
        finally:
            os.close(heard)
            os.close(answer)
        os.write(orders, b"enable\n")  # there is room for it, whatever becomes of perf
        if not (select.select([self._answers], [], [], PATIENCE)[0] and os.read(self._answers, 16)):
            said = self.end().decode("utf-8", "replace").strip().split("\n")[0]
            raise Silent(f"perf may not attach to other processes: {said[:200]}")

    def end(self) -> bytes:
        """Ends it, so that it writes its report; returns what it complained about."""
        self._process.send_signal(signal.SIGINT)
        try:
            said = self._process.communicate(timeout=PATIENCE)[1]
        except subprocess.TimeoutExpired:
            self._process.kill()
            said = self._process.communicate()[1]
        os.close(self._orders)
        os.close(self._answers)
        return said


def parse(report: str) -> tuple[Counter, ...]:
    """Reads what ``perf stat -j`` wrote: one JSON object a line, others are passed over.

    Events that were counted for a part of the time only are scaled up by perf, and so are estimates.
    """
    counters = []
    for line in report.splitlines():
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if isinstance(row, dict) and isinstance(row.get("event"), str) and "counter-value" in row:
            counters.append(_counter(row["event"], str(row["counter-value"])))
    return tuple(counters)


def probe() -> tuple[Counter, ...]:
    """Counts one run of a program that does nothing."""
    return count([PROBE])


def _counter(event: str, value: str) -> Counter:
    # perf appends the privilege that it was held to: "instructions:u".
    name = event.partition(":")[0]
    try:
        figure = float(value)
    except ValueError:
        return _absent(name, ABSENT.get(value, f"perf says {value}"))
    return counted(name, figure, UNITS.get(name, ""), SOURCE)


def _in_order(found: Mapping[str, Counter], events: Sequence[str]) -> tuple[Counter, ...]:
    names = [event.partition(":")[0] for event in events]
    return tuple(found.get(name) or _absent(name, "perf did not report it") for name in names)


def _absent(event: str, reason: str) -> Counter:
    return missing(event, UNITS.get(event, ""), SOURCE, reason)


def _without(events: Sequence[str], reason: str) -> tuple[Counter, ...]:
    return tuple(_absent(event, reason) for event in events)
