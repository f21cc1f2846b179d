"""One core, one measurement: locks that all whet processes of this machine share, and affinity."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from whet.core.errors import UsageError
from whet.core.events import Event, EventKind, Listener, null_listener
from whet.sandbox.locks import holder, lock, run_of


@contextmanager
def measuring_cores(count: int, listener: Listener = null_listener) -> Iterator[tuple[int, ...]]:
    """Reserves the last ``count`` processors for measuring, waiting for other measurements to end.

    The calling thread moves to the other processors meanwhile, so that what it does between windows does not disturb.

    Args:
        count: of processors.
        listener: hears whom it has to wait for.

    Raises:
        UsageError: this process may not use so many processors.
    """
    allowed = sorted(os.sched_getaffinity(0))
    if count > len(allowed):
        raise UsageError(f"--cores {count}: this process may use {len(allowed)}")
    cores = tuple(allowed[-count:])
    others = set(allowed) - set(cores)
    with ExitStack() as stack:
        for core in cores:
            stack.enter_context(_locked(core, listener))
        if others:
            os.sched_setaffinity(0, others)
            stack.callback(os.sched_setaffinity, 0, allowed)
        yield cores


@contextmanager
def on_core(*cores: int) -> Iterator[None]:
    """Moves the calling thread, and what it starts, to one or more processors, and the thread back; none moves nothing.

    Raises:
        OSError: this thread may use none of them.
    """
    usual = os.sched_getaffinity(0)
    if cores:
        os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, usual)


def megahertz(cores: tuple[int, ...]) -> float | None:
    """Returns the clock at which the first of some processors runs now; None where the kernel does not tell."""
    if not cores:
        return None
    core = cores[0]
    with suppress(OSError, ValueError):
        return int(Path(f"/sys/devices/system/cpu/cpu{core}/cpufreq/scaling_cur_freq").read_text()) / 1e3
    number = -1
    with suppress(OSError, ValueError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "processor":
                number = int(value)
            elif name.strip() == "cpu MHz" and number == core:
                return float(value)
    return None


@contextmanager
def _locked(core: int, listener: Listener) -> Iterator[None]:
    name = f"whet-core-{core}.lock"
    descriptor = lock(name, wait=False)
    if descriptor is None:
        listener(_waiting(core, holder(name)))
        descriptor = lock(name)
        listener(Event(EventKind.WAITING, f"core {core} is free", {"core": core, "over": True}))
    assert descriptor is not None
    try:
        yield
    finally:
        os.close(descriptor)


def _waiting(core: int, process: int | None) -> Event:
    run = run_of(process) if process is not None else ""
    other = f"run {run}" if run else f"process {process}" if process is not None else "another measurement"
    data = {"core": core, "holder": run, "process": process, "over": False}
    return Event(EventKind.WAITING, f"waiting for {other} on core {core}", data)
