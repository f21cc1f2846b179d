"""Where answers run when a suite's own rule judges them."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Any

from whet.core.options import Options
from whet.core.task import Task
from whet.evaluators.artifacts import Builder
from whet.evaluators.preloads import preloads
from whet.sandbox.backends import open_sandbox
from whet.sandbox.interpreter import find_interpreter
from whet.sandbox.protocol import NO_LINKS, Job, Sandbox, Session


class LabSandbox:
    """A sandbox as one builder sees it: its trees lie apart, so that equal texts of two problems never meet."""

    def __init__(self, sandbox: Sandbox, number: int) -> None:
        self._sandbox = sandbox
        self._number = number

    @property
    def name(self) -> str:
        """See `Sandbox.name`."""
        return self._sandbox.name

    @property
    def facts(self) -> Mapping[str, Any]:
        """See `Sandbox.facts`."""
        return self._sandbox.facts

    def stage(
        self, name: str, files: Mapping[str, bytes], executable: bool = False, links: Mapping[str, str] = NO_LINKS
    ) -> Path:
        """See `Sandbox.stage`."""
        return self._sandbox.stage(f"{self._number}-{name}", files, executable, links)

    def open(self, job: Job) -> Session:
        """See `Sandbox.open`."""
        return self._sandbox.open(job)

    def close(self) -> None:
        """Leaves the sandbox to the others."""


class Lab:
    """A sandbox that builders of many problems share. Close it when the run is over."""

    def __init__(self, options: Options) -> None:
        """Opens the sandbox.

        Args:
            options: ``sandbox``, ``unsafe``, ``python`` and ``cores`` count.

        Raises:
            UsageError: the sandbox or the interpreter cannot be used.
        """
        self.options = options
        self.interpreter = find_interpreter(options.python)
        self.sandbox = open_sandbox(options.sandbox, options.unsafe)
        self._numbers = count()

    def builder(self, task: Task) -> Builder:
        """Returns what builds and starts answers to a problem; native ones in one layout, as the suites do."""
        return Builder(task, LabSandbox(self.sandbox, next(self._numbers)), self.interpreter, preloads(task), layouts=1)

    def close(self) -> None:
        """Ends all that runs in it."""
        self.sandbox.close()
