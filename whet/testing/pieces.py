"""Work of every kind that workers have to cope with."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from whet.core.errors import BaselineError, UsageError
from whet.sandbox.workers import health
from whet.sandbox.workers.base import WorkerContext


def add(bench: WorkerContext, argument: Mapping[str, Any]) -> Any:
    """Adds up numbers, after some seconds; leaves a line for each time that it was done."""
    time.sleep(argument.get("seconds", 0.0))
    if log := argument.get("log"):
        with Path(log).open("a") as lines:
            lines.write(f"{argument['numbers']}\n")
    return {"sum": sum(argument["numbers"]), "by": os.getpid(), "host": bench.host}


def wait(bench: WorkerContext, argument: Mapping[str, Any]) -> Any:
    """Waits for a file."""
    while not Path(argument["file"]).exists():
        time.sleep(0.01)
    return {"by": os.getpid(), "host": bench.host}


def spin(bench: WorkerContext, argument: Mapping[str, Any]) -> Any:
    """Keeps a processor busy for some seconds of its time."""
    until = time.process_time() + argument["seconds"]
    while time.process_time() < until:
        pass
    return {"seconds": argument["seconds"]}


def fail(bench: WorkerContext, argument: Mapping[str, Any]) -> Any:
    """Raises what is asked for."""
    if argument["kind"] == "baseline":
        raise BaselineError("it never ends", "nondeterministic")
    if argument["kind"] == "usage":
        raise UsageError("no such file")
    raise ZeroDivisionError("first line\nsecond line")


def die(bench: WorkerContext, argument: Mapping[str, Any]) -> Any:
    """Dies the first times, which it counts in a file."""
    with Path(argument["log"]).open("a") as lines:
        lines.write(f"{os.getpid()}\n")
    if len(Path(argument["log"]).read_text().splitlines()) <= argument["times"]:
        os.kill(os.getpid(), signal.SIGKILL)
    return {"survived": True}


def linger(bench: WorkerContext, argument: Mapping[str, Any]) -> Any:
    """Starts processes that leave their group and their parent behind, says who they are, and waits."""
    shell = f"setsid sh -c 'echo $$ >> {argument['log']}; exec sleep {argument['seconds']}' & "
    subprocess.Popen(["sh", "-c", shell * 2], start_new_session=True).wait()
    time.sleep(argument["seconds"])
    return {}


def count(bench: WorkerContext, argument: Mapping[str, Any]) -> Any:
    """Counts how often this worker was asked."""
    bench.kept["asked"] = bench.kept.get("asked", 0) + 1
    return {"asked": bench.kept["asked"], "by": os.getpid()}


def probe(bench: WorkerContext, argument: Mapping[str, Any]) -> Any:
    """Looks at the host as ever, but for a GPU that is lost while a file says so."""
    lost = (bench.store.home / f"sick-{bench.host}").exists()
    return {**health.probe(bench, argument), **({"gpu": "GPU is lost"} if lost else {})}
