"""What a baseline has to be before anything is compared with it: it parses, builds, loads and passes its own tests."""

from __future__ import annotations

from whet.core.errors import BaselineError
from whet.core.task import Task
from whet.core.text import first_line
from whet.evaluators.finding import Fault
from whet.evaluators.languages.registry import language_of_task
from whet.evaluators.live import Live
from whet.evaluators.own_tests import OwnTests
from whet.evaluators.subjects import Subject, Workshop


def expect_parsed(task: Task) -> None:
    """Raises BaselineError where a baseline's text can be told to be wrong."""
    if (fault := language_of_task(task).parse(task)) is not None:
        raise BaselineError(f"{task.path} does not parse: {fault.detail}", fault.reason.value)


def expect_built(task: Task, workshop: Workshop) -> Subject:
    """Returns a baseline that is ready to run.

    Raises:
        BaselineError: it does not parse, or does not compile.
    """
    expect_parsed(task)
    subject = workshop.build(task.original[0])
    if isinstance(subject, Fault):
        raise BaselineError(f"{task.path} does not compile: {first_line(subject.detail)}", subject.reason.value)
    return subject


def expect_loadable(task: Task, workshop: Workshop) -> None:
    """Returns where a baseline can be built and started.

    Raises:
        BaselineError: it cannot.
    """
    started(task, expect_built(task, workshop), 1).close()


def own_tests(task: Task, workshop: Workshop) -> OwnTests | None:
    """Returns the target's own tests, which the baseline passes; None where the task names none.

    Raises:
        BaselineError: it does not pass them.
    """
    if task.tests is None:
        return None
    interpreter = workshop.interpreter
    tests = OwnTests.of(task, interpreter).validated(workshop.sandbox, interpreter, task.source)
    if isinstance(tests, Fault):
        detail = first_line(tests.detail.replace("\n", " ", 1))
        raise BaselineError(f"{task.path} fails its own tests before any change: {detail}", "own_tests")
    return tests


def started(task: Task, subject: Subject, hash_seed: int) -> Live:
    """Returns a process of the baseline.

    Raises:
        BaselineError: it does not load.
    """
    live = subject.start(hash_seed=hash_seed)
    if isinstance(live, Fault):
        raise BaselineError(f"{task.target} does not load: {line(live.detail)}", live.reason.value)
    return live


def line(text: str) -> str:
    """Returns what went wrong as one line that is not too long."""
    return " ".join(text.split())[:400]
