"""Assembly routines: where their text comes from when nobody wrote one."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

from whet.core.errors import BaselineError, UsageError
from whet.core.options import Options
from whet.core.task import Task
from whet.sandbox.backends import open_sandbox
from whet.sandbox.interpreter import find_interpreter
from whet.sandbox.toolchains.assembly import own_output
from whet.sandbox.toolchains.isas import ISAS
from whet.sandbox.toolchains.native import Diagnostics


def with_own_output(task: Task, options: Options) -> Task:
    """Returns the task with a compiler's output as its text; as it is where an instruction set lacks its tools.

    What cannot be run either is said by the rungs of whoever verifies an answer, and by `expect_tools` to whoever
    would ask for one.

    Raises:
        BaselineError: its reference does not compile.
        UsageError: no sandbox or no compiler is there.
    """
    if task.emulated and ISAS[task.isa].lacking():
        return task
    with closing(open_sandbox(options.sandbox, options.unsafe)) as sandbox:
        made = own_output(sandbox, find_interpreter(options.python), task)
    if isinstance(made, Diagnostics):
        raise BaselineError(
            f"{task.path.with_suffix('').name}: the reference does not compile: {made.text}", "build_error"
        )
    return replace(task, source=made)


def expect_tools(task: Task) -> None:
    """Returns where answers to a task for another instruction set can be run.

    Raises:
        UsageError: a compiler or the emulator is not installed; the package is named.
    """
    if task.emulated and (missing := ISAS[task.isa].lacking()):
        raise UsageError(str(missing))
