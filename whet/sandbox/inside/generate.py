"""Runs a workload file: makes inputs from seeds, and asks its `valid` and `check`. No candidate shares its process."""

from __future__ import annotations

import os
import random
import sys
import traceback

from .channel import Channel, set_limits
from .codec import encode
from .decode import decode
from .landlock import restrict
from .loading import load_module, resolver

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself would cost each start 8 ms
    from typing import Any

WORKLOAD = "whet_workload.py"
MAKE = "make_input"


def last_line(error: BaseException) -> str:
    """Returns an error as one line, with the workload file's own line number where there is one."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename.endswith(WORKLOAD)]
    where = f" (line {frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {str(error)[:500]}{where}"


def _try_load(tree: str, target: str) -> Any:
    """Returns the target's module, whose classes inputs may hold, or None where it does not load."""
    try:
        return load_module(tree, target)
    except Exception:
        return None


class WorkloadModule:
    """The loaded workload file."""

    def __init__(self, tree: str, target: str, program: bool) -> None:
        self.program = program
        self.resolve = resolver(None if program else _try_load(tree, target))
        sys.path.insert(0, os.path.dirname(os.path.join(tree, target)))
        self.module = load_module(tree, WORKLOAD)
        if not self.has(MAKE):
            raise ValueError("it defines no make_input(size, rng)")

    def has(self, name: str) -> bool:
        """Whether the file defines such a function."""
        return callable(getattr(self.module, name, None))

    def generators(self) -> list[str]:
        """Returns the names of its generators, the plain one first."""
        return sorted(name for name in vars(self.module) if name.startswith(MAKE) and self.has(name))

    def make(self, generator: str, size: int, seed: int) -> bytes:
        """Returns one input as bytes: encoded arguments, or the text for stdin."""
        value = getattr(self.module, generator)(size, random.Random(seed))
        if self.program:
            if not isinstance(value, (str, bytes)):
                got = type(value).__name__
                raise TypeError(
                    f"{generator} of a program must return the text for stdin, not {got}; "
                    "one of its functions is meant by file.py::function"
                )
            return value.encode() if isinstance(value, str) else value
        keyed = isinstance(value, dict) and "args" in value and set(value) <= {"args", "kwargs", "init"}
        if not isinstance(value, tuple) and not keyed:
            raise TypeError(
                f"{generator} must return a tuple of positional arguments, or "
                f'{{"args": (...), "kwargs": {{...}}}}, not {type(value).__name__}'
            )
        return encode(value)

    def read(self, payload: bytes) -> Any:
        """Returns an input as `make_input` gave it."""
        return payload.decode("utf-8", "replace") if self.program else decode(payload, self.resolve)

    def valid(self, payload: bytes) -> bool:
        """Whether an edited input is one that the target has to take."""
        try:
            answer = self.module.valid(self.read(payload))
            return str(answer) != "False"  # numpy has a false of its own
        except Exception:  # what it cannot even look at is none
            return False

    def check(self, payload: bytes, output: bytes) -> str:
        """Returns why the workload's own property does not hold; empty where it does, and where nothing came out."""
        value: Any
        if self.program:
            value = output.decode("utf-8", "replace")
        else:
            kind, _, _, value, _ = decode(output, self.resolve)
            if kind != "value":
                return ""
        try:
            held = self.module.check(self.read(payload), value)
        except AssertionError as error:
            return last_line(error)
        return "check returned False" if held is False else ""


def serve(channel: Channel) -> None:
    """Answers messages until the world outside goes."""
    _, tree, memory, processes, output, rules = channel.read()
    set_limits(memory, processes, output)
    if rules:
        restrict(*rules)
    workload: WorkloadModule | None = None
    while True:
        message = channel.read()
        try:
            if message[0] == "load":
                workload = WorkloadModule(tree, *message[1:])
                sizes = [int(size) for size in getattr(workload.module, "sizes", ())]
                channel.write(("ok", sizes, workload.has("check"), workload.has("valid"), workload.generators()))
            elif message[0] == "make":
                assert workload is not None
                channel.write(("inputs", [workload.make(message[1], message[2], seed) for seed in message[3]]))
            elif message[0] == "valid":
                assert workload is not None
                channel.write(("valid", [workload.valid(payload) for payload in message[1]]))
            elif message[0] == "check":
                assert workload is not None
                channel.write(("checked", workload.check(message[1], message[2])))
        except Exception as error:  # whatever a workload file raises is told outside
            channel.write(("error", type(error).__name__, last_line(error)))


def main() -> None:
    """Entry of the process."""
    channel = Channel()
    try:
        serve(channel)
    except EOFError:
        return
