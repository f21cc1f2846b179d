"""What a baseline has to be before anything is compared with it: it parses, builds, loads and passes its own tests."""

from __future__ import annotations

from whet.core.errors import BaselineError
from whet.core.task import Task
from whet.core.text import first_line
from whet.evaluators.artifacts import Artifact, Builder
from whet.evaluators.finding import Fault
from whet.evaluators.languages.registry import language_of_task
from whet.evaluators.own_tests import OwnTests
from whet.evaluators.processes import TargetProcess


def expect_parsed(task: Task) -> None:
    """Raises BaselineError where a baseline's text can be told to be wrong."""
    if (fault := language_of_task(task).parse(task)) is not None:
        raise BaselineError(f"{task.path} does not parse: {fault.detail}", fault.reason.value)


def expect_built(task: Task, builder: Builder) -> Artifact:
    """Returns a baseline that is ready to run.

    Raises:
        BaselineError: it does not parse, or does not compile.
    """
    expect_parsed(task)
    artifact = builder.build(task.original[0])
    if isinstance(artifact, Fault):
        raise BaselineError(f"{task.path} does not compile: {first_line(artifact.detail)}", artifact.reason.value)
    return artifact


def expect_loadable(task: Task, builder: Builder) -> None:
    """Returns where a baseline can be built and started.

    Raises:
        BaselineError: it cannot.
    """
    started(task, expect_built(task, builder), 1).close()


def own_tests(task: Task, builder: Builder) -> OwnTests | None:
    """Returns the target's own tests, which the baseline passes; None where the task names none.

    Raises:
        BaselineError: it does not pass them.
    """
    if task.tests is None:
        return None
    interpreter = builder.interpreter
    tests = OwnTests.of(task, interpreter).validated(builder.sandbox, interpreter, task.source)
    if isinstance(tests, Fault):
        detail = first_line(tests.detail.replace("\n", " ", 1))
        raise BaselineError(f"{task.path} fails its own tests before any change: {detail}", "own_tests")
    return tests


def started(task: Task, artifact: Artifact, hash_seed: int) -> TargetProcess:
    """Returns a process of the baseline.

    Raises:
        BaselineError: it does not load.
    """
    process = artifact.start(hash_seed=hash_seed)
    if isinstance(process, Fault):
        raise BaselineError(f"{task.target} does not load: {line(process.detail)}", process.reason.value)
    return process


def line(text: str) -> str:
    """Returns what went wrong as one line that is not too long."""
    return " ".join(text.split())[:400]
