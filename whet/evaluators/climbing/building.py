"""The rungs ``screen`` and ``build``, which need no baseline."""

from __future__ import annotations

from whet.core.task import Task
from whet.evaluators.artifacts import Builder
from whet.evaluators.assembly.routines import Routines
from whet.evaluators.climbing.rung import Climber, RungCheck
from whet.evaluators.finding import Fault, Finding, Passed, sound
from whet.evaluators.languages.registry import language_of_task
from whet.evaluators.pairs import Side
from whet.evaluators.ptx.judging import PtxKernels
from whet.evaluators.screening import screened


class Screen:
    """What a text shows, in whatever language it is."""

    name = "screen"

    def __init__(self, task: Task) -> None:
        self._task = task

    def climb(self, climber: Climber) -> Finding:
        """See `RungCheck.climb`."""
        return screened(self._task, climber.candidate.source)


class Build:
    """Whether a candidate can be built and loaded. Its process stays, for the rung that compares it."""

    name = "build"

    def __init__(self, builder: Builder) -> None:
        self._builder = builder

    def climb(self, climber: Climber) -> Finding:
        """See `RungCheck.climb`."""
        climber.side = Side(sound(self._builder.build(climber.candidate.source)), climber.batch.hash_seed)
        climber.side.open()
        return Passed(language_of_task(self._builder.task).ready)


class RoutineBuild:
    """The same of a routine, which is first assembled by itself and looked at."""

    name = "build"

    def __init__(self, routines: Routines, build: RungCheck) -> None:
        self._routines = routines
        self._build = build

    def climb(self, climber: Climber) -> Finding | None:
        """See `RungCheck.climb`."""
        self._routines.assembled(climber.candidate.source)
        return self._build.climb(climber)


class PtxScreen:
    """What the text of a kernel in PTX holds."""

    name = "screen"

    def __init__(self, kernels: PtxKernels) -> None:
        self._kernels = kernels

    def climb(self, climber: Climber) -> Finding:
        """See `RungCheck.climb`."""
        return self._kernels.screen(climber.candidate.source)


class PtxBuild:
    """Whether such a kernel is assembled and loaded, with what the assembler says of it."""

    name = "build"

    def __init__(self, kernels: PtxKernels, build: RungCheck) -> None:
        self._kernels = kernels
        self._build = build

    def climb(self, climber: Climber) -> Finding | None:
        """See `RungCheck.climb`."""
        assembled = self._kernels.build(climber.candidate)
        if isinstance(assembled, Fault):
            return assembled
        loaded = self._build.climb(climber)
        return assembled if isinstance(loaded, Passed) else loaded
