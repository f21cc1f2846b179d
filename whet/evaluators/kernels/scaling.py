"""Makes a problem's shapes fit the machine at hand, by dividing the numbers at the top of its file.

The file's own text is changed, so that baseline, candidates, prompts and evidence all see the same numbers.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from whet.core.errors import UsageError
from whet.core.options import Options
from whet.core.task import MIB, Task
from whet.core.trees import parse_python
from whet.sandbox.backends import open_sandbox
from whet.sandbox.interpreter import Interpreter, find_interpreter
from whet.sandbox.protocol import Incident, Job, Session

SECONDS = 60.0
"""Seconds to size up one text: the import of torch, and a call on tensors without elements. A smaller limit refuses
problems on a busy machine, a larger one only makes a file that hangs slower to report."""
MOST_INPUTS = 4 * MIB
"""Bytes of one input: it goes through pipes, and is hashed, on both sides."""
SHARE = 1 / 4
"""Of the memory at hand, for one call: two processes may be in one, and the pipes hold their inputs."""
CALL_SECONDS = 0.5
"""That a call may be expected to take: some hundred are made before the first is timed."""
FLOPS, BYTES = 2e10, 2e9
"""What a slow core does a second: floating-point operations, and bytes written."""
SMALLEST = 1
"""Least value that a number is halved to: a dimension of 0 would leave no elements to compare."""
MOST_POWER = 64
"""Largest exponent of a power that is calculated: 2 to the 64th is beyond any shape. Without a bound, a short text
could ask for a number of gigabytes."""
MEMINFO = Path("/proc/meminfo")


@dataclass(frozen=True, slots=True)
class Size:
    """What one call takes; see `whet.sandbox.inside.trial.sized`."""

    inputs: int
    weights: int
    written: int
    flops: int
    error: str

    def fits(self, memory: int) -> bool:
        """Whether a call of this size can be made again and again on a machine with so many bytes at hand."""
        seconds = self.flops / FLOPS + self.written / BYTES
        whole = self.inputs + self.weights + self.written
        return self.inputs <= MOST_INPUTS and whole <= memory * SHARE and seconds <= CALL_SECONDS


def fitted(task: Task, options: Options) -> tuple[str, Mapping[str, tuple[int, int]]]:
    """Returns a problem's text with shapes that fit this machine, and what was made smaller: name -> (was, is).

    Numbers are halved until a call fits: first those whose name tells of a batch, then those that only the inputs
    depend on, then the others; of each kind the largest, so that a matrix does not become a row. One that the module
    cannot be called with is left as it was.

    Raises:
        UsageError: the interpreter has no torch, or the file cannot be loaded.
    """
    interpreter = find_interpreter(options.python)
    with closing(open_sandbox(options.sandbox, options.unsafe)) as sandbox:
        job = Job("trial", interpreter, None, task.limits)
        with closing(sandbox.open(job)) as session:
            ask = _Asker(session, task.path.name, interpreter)
            return _halved(task.source, ask, min(task.limits.memory, memory_at_hand()))


def memory_at_hand() -> int:
    """Returns the bytes that this machine could give without swapping."""
    for line in MEMINFO.read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    raise AssertionError(f"{MEMINFO} has no MemAvailable: Linux older than 3.14")


class _Asker:
    """Sizes up texts."""

    def __init__(self, session: Session, name: str, interpreter: Interpreter) -> None:
        self._session = session
        self._name = name
        self._interpreter = interpreter

    def __call__(self, text: str) -> Size | None:
        """Returns the size of a problem; None where it cannot be built without elements.

        Raises:
            UsageError: it cannot be loaded.
        """
        try:
            answer, _ = self._session.ask("size", text, self._name, seconds=SECONDS)
        except Incident as incident:
            raise UsageError(f"{self._name} cannot be loaded: {incident}") from None
        if answer[0] == "sized":
            return Size(*answer[1:])
        _, kind, said = answer
        if kind in ("ModuleNotFoundError", "ImportError"):
            missing = "torch" if "torch" in said else said
            raise UsageError(
                f"{self._name} needs {missing}, which {self._interpreter.executable} does not have; install it there, "
                "or give --python PATH"
            )
        return None


def _halved(source: str, ask: Callable[[str], Size | None], memory: int) -> tuple[str, Mapping[str, tuple[int, int]]]:
    whole = size = ask(source)
    scale: dict[str, tuple[int, int]] = {}
    numbers = list(constants(source))
    while whole is not None and size is not None and not size.fits(memory):
        now = {name: scale.get(name, (was, was))[1] for name, was, _ in numbers}
        for name, was, _ in sorted(numbers, key=lambda number: (number[2], -now[number[0]])):
            half = now[name] // 2
            trial = {**scale, name: (was, half)}
            smaller = ask(rewritten(source, trial)) if half >= SMALLEST else None
            if smaller is not None and (not smaller.error or whole.error):
                scale, size = trial, smaller
                break
        else:
            break
    return rewritten(source, scale), scale


def constants(source: str) -> Iterator[tuple[str, int, int]]:
    """Yields the numbers at the top of a problem that its inputs depend on, with ranks: the lowest shrink first."""
    module = parse_python(source)
    numbers = {name: value for name, value, _ in assigned(module)}
    functions = {node.name: node for node in module.body if isinstance(node, ast.FunctionDef)}
    used = {
        name: names_in(functions[name]) if name in functions else set() for name in ("get_inputs", "get_init_inputs")
    }
    inputs = [name for name in numbers if name in used["get_inputs"] and numbers[name] > SMALLEST]

    def rank(name: str) -> int:
        return 0 if "batch" in name.lower() else 1 + (name in used["get_init_inputs"])

    yield from ((name, numbers[name], rank(name)) for name in sorted(inputs, key=rank))


def rewritten(source: str, scale: Mapping[str, tuple[int, int]]) -> str:
    """Returns a text with other numbers at its top."""
    lines = source.splitlines(keepends=True)
    for name, _, value in reversed(list(assigned(parse_python(source)))):
        if name in scale:
            line = lines[value.lineno - 1].encode()
            assert value.lineno == value.end_lineno, "a number stands on one line"
            now = str(scale[name][1]).encode()
            lines[value.lineno - 1] = (line[: value.col_offset] + now + line[value.end_col_offset :]).decode()
    return "".join(lines)


def assigned(module: ast.Module) -> Iterator[tuple[str, int, ast.expr]]:
    """Yields (name, number, expression) of what is assigned once, at the top of a file, on a line."""
    found = [
        (node.targets[0].id, node.value)
        for node in module.body
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)
    ]
    names = [name for name, _ in found]
    for name, expression in found:
        number = _number(expression)
        if number is not None and names.count(name) == 1 and expression.lineno == expression.end_lineno:
            yield name, number, expression


def _number(expression: ast.expr) -> int | None:
    """Returns the value of a whole number, of a product or of a power of such."""
    if isinstance(expression, ast.Constant):
        return expression.value if type(expression.value) is int else None
    if isinstance(expression, ast.BinOp):
        left, right = _number(expression.left), _number(expression.right)
        if left is None or right is None:
            return None
        if isinstance(expression.op, ast.Mult):
            return left * right
        if isinstance(expression.op, ast.Pow) and 0 <= right <= MOST_POWER:
            return int(left**right)
    return None


def names_in(node: ast.AST) -> set[str]:
    """Returns the names that stand in a part of a text."""
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
