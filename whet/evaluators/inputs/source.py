"""Where inputs come from: a workload file (in a sandbox of its own), recorded cases, type hints, known calls."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from whet.core.errors import NoInputsError, UsageError
from whet.core.task import MIB, Kind, Limits, Task
from whet.evaluators.inputs.constructors import Constructors
from whet.evaluators.inputs.contract import keeps
from whet.evaluators.inputs.plain_data import write
from whet.evaluators.inputs.target_text import Text, read_text
from whet.evaluators.inputs.type_hints import UnknownTypeError
from whet.evaluators.languages.registry import language_of_task, takes_objects
from whet.evaluators.package import Surroundings
from whet.sandbox.interpreter import Interpreter
from whet.sandbox.protocol import Incident, Job, Sandbox

LIMITS = Limits(seconds=60.0, memory=4096 * MIB, output=256 * MIB)
"""Of the generator: seconds of each question to it, and bytes of its memory and of its answers, which hold up to
`AT_ONCE` inputs. Smaller limits refuse workloads of large inputs; larger ones let a faulty generator use more of the
machine before it is reported."""
TIMED_SIZES = 2
"""Listed sizes that time counts on, the last ones. With one, a gain could hold at that size alone; more add smaller
sizes, whose calls are shorter, and each adds passes to every turn."""
SMALL_SIZES = (0, 1, 2, 3)
"""Sizes that are tried although the workload does not list them, where its generator has them: empty and nearly empty
inputs. Each adds up to `whet.evaluators.inputs.plan.DRAWS` inputs of every generator."""
AT_ONCE = 32
"""Inputs that a generator is asked for at once: it may take the limit of time for these."""
OBJECTS = 1
"""Seed of the constructor's arguments that are drawn once; which of them an input gets follows from its own seed."""
PLAIN = "make_input"
EDITED = "edges"
"""Source of the inputs that are edits of ours of drawn or recorded ones."""


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
        size: as given to ``make_input``; None for what no generator made.
        seed: it was drawn from; None for a case.
        expected: what a case's file says that stdout must be.
        source: where it comes from: ``generator``, ``case``, ``recorded``, ``hints``, ``calls`` or ``edges``.
    """

    name: str
    payload: bytes
    size: int | None = None
    seed: int | None = None
    expected: bytes | None = None
    source: str = "generator"


def _inputs(size: int, seeds: Sequence[int], payloads: Sequence[bytes]) -> list[Input]:
    pairs = zip(payloads, seeds, strict=True)
    return [Input(f"size {size}", payload, size, seed) for payload, seed in pairs]


def _halves(calls: Sequence[Input]) -> dict[str, tuple[Input, ...]]:
    middle = len(calls) // 2
    parts = {"cheap recorded calls": calls[:middle], "dear recorded calls": calls[middle:]}
    return {name: tuple(part) for name, part in parts.items() if part}


class InputSource:
    """Draws inputs. Its process knows seeds, and never meets a candidate. Safe for several threads.

    Attributes:
        task: whose inputs they are.
        text: what the target's own text says about its domain.
        cases: recorded runs of a program.
        calls: known calls of a function, for correctness only.
        recorded: recorded calls of a function that time counts on: none where there is a generator.
        groups: those in two halves, the cheaper and the dearer ones, by a name.
        sizes: that the workload lists.
        generators: names of the workload's generators; only the first is timed.
        checks: whether the workload states a property of outputs.
        validates: whether the workload says which inputs are within the target's domain.
    """

    def __init__(self, task: Task, sandbox: Sandbox, interpreter: Interpreter, limits: Limits = LIMITS) -> None:
        self._limits = limits
        self._lock = threading.Lock()
        self._session: Any = None
        self._unknown = ""
        self.task = task
        self.text: Text = read_text(task)
        self.cases = tuple(
            Input(case.name, case.stdin, expected=case.expected, source="case") for case in task.workload.cases
        )
        self.calls = tuple(Input("a call in the tests", payload, source="calls") for payload in task.workload.calls)
        recorded = tuple(
            Input(f"recorded call {number}", payload, source="recorded")
            for number, payload in enumerate(task.workload.recorded, 1)
        )
        self.calls += recorded if task.workload.generator is not None else ()
        self.recorded = recorded if task.workload.generator is None else ()
        self.groups = _halves(self.recorded)
        self._objects = Constructors(task, OBJECTS)
        self.sizes: tuple[int, ...] = ()
        self.generators: tuple[str, ...] = ()
        self.checks = self.validates = False
        if task.workload.generator is not None:
            self._open(task, sandbox, interpreter, task.workload.generator)
        self._hints = self._strategy()
        if not self.timeable and self._hints is None:
            raise NoInputsError(
                f"no inputs for {task.name}: give --workload FILE with sizes and make_input(size, rng)"
                + (", or a folder of NAME.in files" if task.kind is Kind.PROGRAM else ", --record CMD, or type hints")
                + self._unknown
            )

    def _strategy(self) -> Any:
        """Returns what draws inputs from type hints, where a Python function has them."""
        if not takes_objects(self.task) or not self.text.hinted:
            return None
        from whet.evaluators.inputs.strategies import strategy_of  # hypothesis takes 0.3 s to import

        try:
            return strategy_of(self.task, self.text.literals)
        except UnknownTypeError as unknown:
            self._unknown = f" that inputs can be made of, which the parameter {unknown} has not"
            return None

    @property
    def timeable(self) -> bool:
        """Whether there is anything that time can count on."""
        return bool(self.sizes or self.cases or self.groups)

    def expect_timeable(self) -> None:
        """Raises NoInputsError where there is not."""
        if not self.timeable:
            raise NoInputsError(
                f"timing {self.task.name} needs a workload: give --workload FILE with sizes and make_input(size, rng)"
                f"{', or --record CMD' if self.task.kind is Kind.FUNCTION else ''}"
            )

    def typed(self, seed: int, count: int) -> list[Input]:
        """Makes inputs from type hints; none where the hints do not suffice."""
        if self._hints is None:
            return []
        from whet.evaluators.inputs.strategies import draw

        values = draw(self._hints, seed, count)
        drawn = (self._objects.completed(write(value), derive(seed, "object", i)) for i, value in enumerate(values))
        payloads = dict.fromkeys(drawn)
        return [Input("type hints", payload, seed=seed, source="hints") for payload in payloads]

    def _open(self, task: Task, sandbox: Sandbox, interpreter: Interpreter, text: str) -> None:
        files = {"whet_workload.py": text.encode()}
        if language_of_task(task).interpreted:
            files |= {path: source.encode() for path, source in task.files(task.source).items()}
        around = Surroundings.of(task, sandbox, interpreter)
        tree = sandbox.stage("workload", files, links=around.links)
        self._session = sandbox.open(Job("generate", around.interpreter, tree, self._limits))
        answer = self._ask("load", task.filename, task.kind is Kind.PROGRAM)
        if answer[0] == "error":
            raise UsageError(f"the workload file cannot be used: {answer[2]}")
        _, sizes, self.checks, self.validates, generators = answer
        self.generators = tuple(generators)
        self.sizes = tuple(sorted(set(task.workload.sizes or sizes)))
        if not self.sizes:
            raise UsageError("the workload file names no sizes; add for instance: sizes = [100, 1000, 10000]")

    @property
    def timed_sizes(self) -> tuple[int, ...]:
        """The sizes that time counts on: the two last."""
        return self.sizes[-TIMED_SIZES:]

    def draw(self, size: int, seeds: Sequence[int], generator: str = PLAIN) -> list[Input]:
        """Makes an input from each seed.

        Raises:
            UsageError: the generator failed.
        """
        payloads: list[bytes] = []
        while len(payloads) < len(seeds):
            answer = self._ask("make", generator, size, list(seeds[len(payloads) : len(payloads) + AT_ONCE]))
            if answer[0] == "error":
                raise UsageError(f"{generator}({size}, rng) of the workload file failed: {answer[2]}")
            payloads += answer[1]
        return _inputs(size, seeds, self._completed(payloads, seeds))

    def try_draw(self, size: int, seeds: Sequence[int], generator: str = PLAIN) -> list[Input]:
        """Makes inputs of a size that the workload does not list; none where it has none."""
        answer = self._ask("make", generator, size, list(seeds))
        return [] if answer[0] == "error" else _inputs(size, seeds, self._completed(answer[1], seeds))

    def _completed(self, payloads: Sequence[bytes], seeds: Sequence[int]) -> list[bytes]:
        """Returns the inputs of a generator, those of a method with objects to call it on."""
        return [self._objects.completed(payload, seed) for payload, seed in zip(payloads, seeds, strict=True)]

    def valid(self, payloads: Sequence[bytes]) -> list[bool]:
        """Says of each input whether it is within the target's domain, as far as contract and workload tell."""
        kept = [self.task.signature is None or keeps(self.task.signature, payload) for payload in payloads]
        if not self.validates or not any(kept):
            return kept
        asked = self._ask("valid", list(map(self._objects.without, payloads)))[1]
        return [one and held is True for one, held in zip(kept, asked, strict=True)]

    def check(self, payload: bytes, outcome: bytes) -> str:
        """Returns why the workload's own property does not hold for an outcome; empty where it does."""
        if not self.checks:
            return ""
        answer = self._ask("check", self._objects.without(payload), outcome)
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
                answer: tuple[Any, ...] = self._session.ask(*message, seconds=self._limits.seconds)[0]
            except Incident as incident:
                reason = "takes too long" if incident.kind == "timeout" else str(incident)
                raise UsageError(f"the workload file failed at {message[0]}: {reason}") from None
        return answer

    def close(self) -> None:
        """Ends its process."""
        if self._session is not None:
            self._session.close()
