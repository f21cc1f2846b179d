"""Where the CPU time of a Python repository's command goes, by function: samples from inside all of its processes.

What comes out of there is plain data to us.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from whet.core.errors import BaselineError
from whet.core.repository import Survey
from whet.evaluators.repository.definitions import Definitions
from whet.evaluators.repository.running import OUT, Hook, run
from whet.sandbox import inside
from whet.sandbox.inside import function_sampler
from whet.sandbox.interpreter import Interpreter
from whet.sandbox.protocol import Sandbox

PACKAGE = "whet_inside"
SAMPLES = "samples"
MODULE = "<module>"
FunctionLocation = tuple[str, int, str]
"""A function as the interpreter names it: path, first line, name."""
Stack = tuple[tuple[FunctionLocation, ...], float, float]
"""The repository's functions, innermost first; CPU seconds; those of them in long single calls into C."""
TESTS_FAILED = 1
"""Exit code of pytest where some tests failed."""
ENOUGH, MOST_RUNS = 1.0, 8
"""CPU seconds from which on shares mean something, and how often a command is run to come there."""


@dataclass(frozen=True, slots=True)
class Spot:
    """A function that was met, as its file defines it.

    Attributes:
        path: of its file, from the root.
        symbol: ``function``, ``Class.method``, or how else it may be told.
        line: its first line.
        end: its last line.
        why_not: why it has no form as a target; empty where it has.
    """

    path: str
    symbol: str
    line: int
    end: int
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class Times:
    """CPU seconds of a command.

    Attributes:
        own: of each spot, with the calls that it makes into code of others.
        total: with all that it calls.
        away: the part of ``own`` in long single calls into C.
        whole: of the command.
    """

    own: Mapping[Spot, float] = field(default_factory=dict)
    total: Mapping[Spot, float] = field(default_factory=dict)
    away: Mapping[Spot, float] = field(default_factory=dict)
    whole: float = 0.0


def hook_files(module: str) -> dict[str, bytes]:
    """Returns the files of a hook that runs the ``install`` of one of our modules inside."""
    names = ("__init__.py", "ends.py", f"{module}.py")
    files = {f"{PACKAGE}/{name}": (Path(inside.__file__).parent / name).read_bytes() for name in names}
    start = f"from {PACKAGE}.{module} import install\n\ninstall()\n"
    return files | {"sitecustomize.py": start.encode()}


def python_times(survey: Survey, command: str, sandbox: Sandbox, interpreter: Interpreter) -> Times:
    """Runs a command, a short one several times, and returns where its time went.

    The repository's own tests may fail in part.

    Raises:
        BaselineError: it fails, or uses hardly any time in Python.
    """
    job = json.dumps({"folder": "tree", "out": f"{OUT}/{SAMPLES}"})
    hook = Hook(hook_files("function_sampler"), variables={function_sampler.JOB: job})
    stacks: list[Stack] = []
    whole = 0.0
    for _ in range(MOST_RUNS):
        ran = run(survey, command, sandbox, interpreter, hook)
        if ran.fault and not (command == survey.tests and ran.code == TESTS_FAILED):
            raise BaselineError(f"'{command}' does not come through before any change: {ran.fault}", "command_failed")
        stacks += _stacks(ran.told.get(SAMPLES, b""))
        if not stacks:
            short = f"'{command}' used too little time in Python to be sampled ({ran.cpu:.2f} s)"
            raise BaselineError(f"{short}; give one that works for longer", "too_short")
        whole += ran.cpu
        if whole >= ENOUGH:
            break
    return times(stacks, survey.root, max(whole, sum(spent for _, spent, _ in stacks)))


def times(stacks: Sequence[Stack], root: Path, whole: float) -> Times:
    """Adds up stacks.

    Args:
        stacks: of samples.
        root: where their files lie.
        whole: seconds of the command.
    """
    files: dict[str, Definitions | None] = {}
    own: defaultdict[Spot, float] = defaultdict(float)
    total: defaultdict[Spot, float] = defaultdict(float)
    away: defaultdict[Spot, float] = defaultdict(float)
    for stack, spent, late in stacks:
        for path, _, _ in stack:
            if path not in files:
                files[path] = _definitions(root, path)
        spots = list(
            dict.fromkeys(
                _spot(location, stack, file) for location in stack if (file := files[location[0]]) is not None
            )
        )
        if spots:
            own[spots[0]] += spent
            away[spots[0]] += late
        for spot in spots:
            total[spot] += spent
    return Times(own, total, away, whole)


def _spot(location: FunctionLocation, stack: tuple[FunctionLocation, ...], file: Definitions) -> Spot:
    """Returns the function that a location's time counts for: what is made within one counts for that while it runs."""
    path, line, name = location
    around = file.around(line)
    if around is None:
        if name == MODULE or name.startswith("<"):
            return Spot(path, MODULE, 1, 1, "it runs once, when the module is imported")
        return Spot(path, name, line, line, "neither a function at the top of a module nor a method of a class there")
    itself = around.line == line and around.node.name == name
    if itself or (path, around.line, around.node.name) in stack:
        return Spot(path, around.symbol, around.line, around.end)
    inner = f"{around.symbol}.<locals>.{name}"
    return Spot(path, inner, line, line, f"made by {around.symbol}, which has ended when it runs")


def _stacks(written: bytes) -> Iterator[Stack]:
    """Reads what the sampler wrote; the command may write there too."""
    for row in written.splitlines():
        try:
            for stack, spent, late in json.loads(row):
                locations = tuple((str(path), int(line), str(name)) for path, line, name in stack)
                yield locations, max(0.0, float(spent)), max(0.0, float(late))
        except (ValueError, TypeError):
            continue


def _definitions(root: Path, path: str) -> Definitions | None:
    """Returns what a file defines; None where the command named one that is not the repository's."""
    place = root / path
    if ".." in Path(path).parts or not place.resolve().is_relative_to(root) or not place.is_file():
        return None
    return Definitions.of(place.read_text(encoding="utf-8", errors="replace"))
