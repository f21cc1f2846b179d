"""Which tests of a repository reach which of its functions: one run of the suite under a tracer of calls."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath

from whet.core.repository import HotFunction, Survey
from whet.evaluators.repository.profiling import PACKAGE, hook_files
from whet.evaluators.repository.running import OUT, Hook, run
from whet.sandbox.inside import reach_tracer
from whet.sandbox.interpreter import Interpreter
from whet.sandbox.protocol import Sandbox

REACHED = "reached"


def reached(
    survey: Survey, tests: str, functions: Sequence[HotFunction], sandbox: Sandbox, interpreter: Interpreter
) -> Mapping[str, tuple[str, ...]]:
    """Runs the tests once and returns which of them call which functions, in child processes too.

    What a fixture that several tests share calls counts for the first of them. Failing tests count like others.

    Args:
        survey: of the repository.
        tests: the command that tests it.
        functions: that matter.
        sandbox: to run it in.
        interpreter: of the project's environment.

    Returns:
        the node ids of pytest for each target, in the order in which they ran; none where the command is not pytest's.

    Raises:
        UsageError: the repository cannot be copied.
    """
    found: dict[str, dict[str, None]] = {function.target: {} for function in functions}
    if is_pytest(tests):
        job = {
            "folder": "tree",
            "functions": [[function.path, function.line] for function in functions],
            "out": f"{OUT}/{REACHED}",
        }
        variables = {reach_tracer.JOB: json.dumps(job), "PYTEST_PLUGINS": f"{PACKAGE}.reach_tracer"}
        ran = run(survey, tests, sandbox, interpreter, Hook(hook_files("reach_tracer"), variables=variables))
        for test, number in _records(ran.told.get(REACHED, b"")):
            if 0 <= number < len(functions):
                found[functions[number].target][test] = None
    return {target: tuple(tests) for target, tests in found.items()}


def is_pytest(command: str) -> bool:
    """Whether a command runs pytest."""
    try:
        words = shlex.split(command)
    except ValueError:
        return False
    return any(PurePath(word).name in ("pytest", "py.test") for word in words)


def _records(written: bytes) -> Iterator[tuple[str, int]]:
    """Reads what the tracer wrote; the tests may write there too."""
    for row in written.splitlines():
        try:
            test, number = json.loads(row)
            yield str(test), int(number)
        except (ValueError, TypeError):
            continue
