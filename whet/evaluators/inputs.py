"""Where inputs come from: a workload file that runs in a sandbox of its own, recorded cases, or both."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from whet.core.errors import UsageError
from whet.core.task import MIB, Kind, Limits, Task
from whet.sandbox.interpreter import Interpreter
from whet.sandbox.protocol import Incident, Job, Sandbox

LIMITS = Limits(seconds=60.0, memory=4096 * MIB, output=256 * MIB)
TIMED_SIZES = 2
SMALL_SIZES = (0, 1, 2, 3)


def derive(seed: int, *parts: object) -> int:
    """Returns a seed of its own for one purpose: nobody who lacks ``seed`` can foresee it."""
    text = "\0".join([str(seed), *map(str, parts)])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


@dataclass(frozen=True, slots=True)
class Input:
    """One input.

    Attributes:
        name: for people: ``size 100`` or a case's name.
        payload: encoded arguments, or the bytes of stdin.
        size: as given to ``make_input``; None for a case.
        seed: it was drawn from; None for a case.
        expected: what a case's file says that stdout must be.
    """

    name: str
    payload: bytes
    size: int | None = None
    seed: int | None = None
    expected: bytes | None = None


def _inputs(size: int, seeds: Sequence[int], payloads: Sequence[bytes]) -> list[Input]:
    pairs = zip(payloads, seeds, strict=True)
    return [Input(f"size {size}", payload, size, seed) for payload, seed in pairs]


class InputSource:
    """Draws inputs. Its process knows seeds, and never meets a candidate. Safe for several threads."""

    def __init__(self, task: Task, sandbox: Sandbox, interpreter: Interpreter) -> None:
        self._lock = threading.Lock()
        self._session: Any = None
        self.cases = tuple(Input(case.name, case.stdin, expected=case.expected) for case in task.workload.cases)
        self.sizes: tuple[int, ...] = ()
        self.checks = False
        if task.workload.generator is not None:
            self._open(task, sandbox, interpreter, task.workload.generator)
        if not self.sizes and not self.cases:
            raise UsageError(
                f"no inputs for {task.name}: give --workload FILE with sizes and make_input(size, rng)"
                + (", or a folder of NAME.in files" if task.kind is Kind.PROGRAM else "")
            )

    def _open(self, task: Task, sandbox: Sandbox, interpreter: Interpreter, text: str) -> None:
        files = {"whet_workload.py": text.encode()}
        if task.language == "python":
            files |= {path: source.encode() for path, source in task.support.items()}
            files[task.filename] = task.source.encode()
        tree = sandbox.stage("workload", files)
        self._session = sandbox.open(Job("generate", interpreter, tree, LIMITS))
        answer = self._ask("load", task.filename, task.kind is Kind.PROGRAM)
        if answer[0] == "error":
            raise UsageError(f"the workload file cannot be used: {answer[2]}")
        self.sizes = tuple(sorted(set(task.workload.sizes or answer[1])))
        self.checks = bool(answer[2])
        if not self.sizes:
            raise UsageError("the workload file names no sizes; add for instance: sizes = [100, 1000, 10000]")

    @property
    def timed_sizes(self) -> tuple[int, ...]:
        """The sizes that time counts on: the two last."""
        return self.sizes[-TIMED_SIZES:]

    def draw(self, size: int, seeds: Sequence[int]) -> list[Input]:
        """Makes an input from each seed.

        Raises:
            UsageError: ``make_input`` failed.
        """
        answer = self._ask("make", size, list(seeds))
        if answer[0] == "error":
            raise UsageError(f"make_input({size}, rng) of the workload file failed: {answer[2]}")
        return _inputs(size, seeds, answer[1])

    def try_draw(self, size: int, seeds: Sequence[int]) -> list[Input]:
        """Makes inputs of a size that the workload does not list; none where it has none."""
        answer = self._ask("make", size, list(seeds))
        return [] if answer[0] == "error" else _inputs(size, seeds, answer[1])

    def check(self, payload: bytes, outcome: bytes) -> str:
        """Returns why the workload's own property does not hold for an outcome; empty where it does."""
        if not self.checks:
            return ""
        answer = self._ask("check", payload, outcome)
        return f"check: {answer[2]}" if answer[0] == "error" else str(answer[1])

    def unlisted_sizes(self, seed: int) -> Iterator[int]:
        """Yields sizes that the workload does not list: the smallest, and some between and around the listed."""
        listed = set(self.sizes)
        yield from (size for size in SMALL_SIZES if size not in listed)
        for i, (low, high) in enumerate(zip(self.sizes, self.sizes[1:], strict=False)):
            if high - low > 1:
                yield low + 1 + derive(seed, "between", i) % (high - low - 1)
        last = self.sizes[-1]
        yield last + 1 + derive(seed, "above") % max(1, last // 8)

    def _ask(self, *message: Any) -> tuple[Any, ...]:
        with self._lock:
            try:
                answer: tuple[Any, ...] = self._session.ask(*message, seconds=LIMITS.seconds)[0]
            except Incident as incident:
                reason = "takes too long" if incident.kind == "timeout" else str(incident)
                raise UsageError(f"the workload file failed at {message[0]}: {reason}") from None
        return answer

    def close(self) -> None:
        """Ends its process."""
        if self._session is not None:
            self._session.close()
