"""What goes wrong on our side of a sandbox: starts that fail, a look that fails, and output that was taken."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from whet.core.errors import SandboxError
from whet.core.task import DEFAULT_LIMITS
from whet.sandbox import watchdog
from whet.sandbox.bubblewrap import Bubblewrap
from whet.sandbox.inside.capture import Capture
from whet.sandbox.inside.codec import encode
from whet.sandbox.inside.decode import decode
from whet.sandbox.interpreter import find_interpreter
from whet.sandbox.protocol import Incident, Job
from whet.sandbox.spawner import Spawner
from whet.sandbox.watchdog import Bounds, Watchdog

MINUTE = 60.0
needs_bubblewrap = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")


@pytest.fixture
def sandbox() -> Iterator[Bubblewrap]:
    made = Bubblewrap(control_groups=False)  # so that a slot whose job has ended is free at once
    yield made
    made.close()


def job(sandbox: Bubblewrap, preload: tuple[str, ...] | None = None, output: int = DEFAULT_LIMITS.output) -> Job:
    tree = sandbox.stage("job", {"a.py": b"def f(n):\n    print('x' * n)\n"})
    return Job("calls", find_interpreter(), tree, replace(DEFAULT_LIMITS, output=output), preload=preload)


def descriptors() -> dict[str, str]:
    """Returns those that stay open, and of what each is; what is open for a moment, in whatever thread, is no leak."""
    seen: list[dict[str, str]] = []
    for _ in range(8):
        found = {}
        for one in Path("/proc/self/fd").iterdir():
            with suppress(FileNotFoundError):
                found[one.name] = str(one.readlink())
        seen.append(found)
        time.sleep(0.03)
    return {name: of for name, of in seen[-1].items() if all(name in found for found in seen)}


def left(before: dict[str, str]) -> dict[str, str]:
    """Returns the descriptors that have come since."""
    return {name: of for name, of in descriptors().items() if name not in before}


@needs_bubblewrap
@pytest.mark.parametrize("preload", [None, ()])
def test_a_start_that_fails_leaves_nothing_behind(
    sandbox: Bubblewrap, preload: tuple[str, ...] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandbox.open(job(sandbox, preload)).close()

    def refused(*_: object) -> None:
        raise SandboxError("bubblewrap could not be started")

    with monkeypatch.context() as patch:
        patch.setattr(Spawner, "start", refused)
        given: set[int | None] = set()
        before, made = None, None
        for _ in range(3):
            with pytest.raises(SandboxError, match="could not be started"):
                sandbox.open(replace(job(sandbox, preload), hash_seed=7))  # of no shape that is warm already
            before = before or descriptors()
            made = made or len(sandbox._slots._made)
            given.add(len(sandbox._slots._idle))
        assert not left(before)
        assert len(sandbox._slots._made) == made
        assert len(given) == 1
    sandbox.open(job(sandbox, preload)).close()


@needs_bubblewrap
@pytest.mark.parametrize("call", ["pipe2", "open"])
def test_without_a_descriptor_nothing_is_kept(sandbox: Bubblewrap, call: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ready = job(sandbox)
    sandbox.open(ready).close()
    real, calls = getattr(os, call), []

    def scarce(*words: object, **more: object) -> object:
        calls.append(words)
        if call == "open" or len(calls) % 2 == 0:
            raise OSError(24, "Too many open files")
        return real(*words, **more)

    before, idle = descriptors(), len(sandbox._slots._idle)
    with monkeypatch.context() as patch:
        patch.setattr(os, call, scarce)
        with pytest.raises(SandboxError, match="Too many open files"):
            sandbox.open(ready)
    assert calls
    assert not left(before)
    assert len(sandbox._slots._idle) == idle


class Tree:
    """A process that is looked at, and what it was ended for."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.excess: Incident | None = None
        self.stopped = threading.Event()

    def stop(self, excess: Incident) -> None:
        self.excess = excess
        self.stopped.set()


def test_a_look_that_fails_ends_no_other_watch(monkeypatch: pytest.MonkeyPatch) -> None:
    real, failing = watchdog.excess, threading.Event()

    def excess(pid: int, bounds: Bounds) -> str:
        if pid == 0:
            failing.set()
            raise OSError(24, "Too many open files")
        return real(pid, bounds)

    monkeypatch.setattr(watchdog, "excess", excess)
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    watch = Watchdog()
    broken, greedy = Tree(0), Tree(process.pid)
    try:
        watch.watch(broken, Bounds(1, 0, ()))
        assert failing.wait(MINUTE)
        watch.watch(greedy, Bounds(1, 0, ()))
        assert greedy.stopped.wait(MINUTE)
        assert broken.excess is None
    finally:
        watch.close()
        process.communicate()


def test_the_limit_of_output_is_one_calls() -> None:
    capture = Capture(10)
    for _ in range(5):
        print("x" * 9, file=capture)
        assert capture.take() == "x" * 9 + "\n"
    with pytest.raises(OSError, match="too much output"):
        print("x" * 10, file=capture)


@needs_bubblewrap
def test_a_function_that_prints_may_be_called_again_and_again(sandbox: Bubblewrap) -> None:
    limit = 100_000
    session = sandbox.open(job(sandbox, output=limit))
    try:
        session.ask("load", "python", "a.py", "f", seconds=MINUTE)
        kinds = []
        for printed in (limit - 1, limit - 1, limit, limit - 1):
            (_, outcome, _), _ = session.ask("call", encode((printed,)), seconds=MINUTE)
            kinds.append(decode(outcome)[0])
        assert kinds == ["value", "value", "raise", "value"]
    finally:
        session.close()


@needs_bubblewrap
@pytest.mark.parametrize("question", [("helpers", ["f"], 3), ("profile", 0.01)])
def test_what_is_printed_where_nobody_asks_for_it_counts_for_no_call(
    sandbox: Bubblewrap, question: tuple[object, ...]
) -> None:
    limit = 100_000
    payload = encode((limit // 2,))
    operation, *words = question
    session = sandbox.open(job(sandbox, output=limit))
    try:
        session.ask("load", "python", "a.py", "f", seconds=MINUTE)
        session.ask(operation, [payload] * 5, *words, seconds=MINUTE)
        (_, outcome, _), _ = session.ask("call", payload, seconds=MINUTE)
    finally:
        session.close()
    kind, *_, printed = decode(outcome)
    assert kind == "value"
    assert printed == "x" * (limit // 2) + "\n"
