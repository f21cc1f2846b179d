"""One core, one measurement: who waits is told for whom."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from whet.core.events import Event, EventKind
from whet.sandbox.cores import measuring_cores, on_core

HOLDS = """
import fcntl, sys
core, *runs = [open(path, "w") for path in sys.argv[1:]]
fcntl.flock(core, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.readline()
"""
RUN = "20260101-000000-abcdef"


class Holder:
    """A process that has the core that would be measured on, with the locks of runs open."""

    def __init__(self, folder: Path, *runs: str) -> None:
        with measuring_cores(1) as (core,):
            self.core = core
        (folder / "locks").mkdir()
        files = [str(folder / f"whet-core-{core}.lock"), *(str(folder / "locks" / f"{run}.lock") for run in runs)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self.process = subprocess.Popen([sys.executable, "-c", HOLDS, *files], **pipes)
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "held\n"

    def let_go(self, event: Event) -> None:
        if not event.data["over"]:
            self.process.communicate("\n", timeout=60)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("runs", [(RUN,), ("20250101-000000-abcdef", RUN), ()])
def test_who_waits_is_told_which_run_has_the_core(folder: Path, runs: tuple[str, ...]) -> None:
    holder = Holder(folder, *runs)
    told: list[Event] = []

    def hear(event: Event) -> None:
        told.append(event)
        holder.let_go(event)

    with measuring_cores(1, hear) as cores:
        assert cores == (holder.core,)
    begun, ended = told
    named = f"run {RUN}" if RUN in runs else f"process {holder.process.pid}"
    assert begun.kind is ended.kind is EventKind.WAITING
    assert begun.text == f"waiting for {named} on core {holder.core}"
    assert begun.data == {
        "core": holder.core,
        "holder": RUN if RUN in runs else "",
        "process": holder.process.pid,
        "over": False,
    }
    assert ended.data == {"core": holder.core, "over": True}


def test_nobody_is_waited_for_where_the_core_is_free(folder: Path) -> None:
    told: list[Event] = []
    with measuring_cores(1, told.append):
        pass
    assert told == []


def test_where_the_kernel_does_not_tell_it_is_another_measurement(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("whet.sandbox.locks.LOCKS", folder / "nowhere")
    holder = Holder(folder)
    told: list[Event] = []

    def hear(event: Event) -> None:
        told.append(event)
        holder.let_go(event)

    with measuring_cores(1, hear):
        pass
    assert told[0].text == f"waiting for another measurement on core {holder.core}"


def test_a_thread_comes_back_from_a_processor_whatever_happened_there() -> None:
    usual = os.sched_getaffinity(0)
    core = max(usual)

    def fail() -> None:
        assert os.sched_getaffinity(0) == {core}
        raise ValueError("there")

    with pytest.raises(ValueError, match="there"), on_core(core):
        fail()
    assert os.sched_getaffinity(0) == usual


def test_to_no_processor_a_thread_does_not_move() -> None:
    usual = os.sched_getaffinity(0)
    with on_core():
        assert os.sched_getaffinity(0) == usual
