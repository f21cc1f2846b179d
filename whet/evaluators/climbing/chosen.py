"""Which rungs a task has before measuring."""

from __future__ import annotations

from whet.core.options import Options
from whet.evaluators.artifacts import Builder
from whet.evaluators.assembly.routines import Routines
from whet.evaluators.baseline import Baseline
from whet.evaluators.climbing.building import Build, PtxBuild, PtxScreen, RoutineBuild, Screen
from whet.evaluators.climbing.checking import Differential, RoutineDifferential, Tests, WithProtocol
from whet.evaluators.climbing.comparing import Comparing
from whet.evaluators.climbing.rung import RungCheck
from whet.evaluators.climbing.watching import Extra, GuardedBuffers, Prove, Sanitized, SanitizedKernels, WatchedCalls
from whet.evaluators.extra_rungs import extra_rungs
from whet.evaluators.inputs.source import InputSource
from whet.evaluators.kernels.protocol import KernelBench
from whet.evaluators.oracle import Oracle
from whet.evaluators.own_tests import OwnTests
from whet.evaluators.ptx.judging import PtxKernels


class Rungs:
    """Makes them: those that need no baseline at any time, the others when it is validated."""

    def __init__(
        self,
        builder: Builder,
        source: InputSource,
        oracle: Oracle,
        options: Options,
        seed: int,
        routines: Routines | None,
        kernels: PtxKernels | None,
    ) -> None:
        """Makes none yet.

        Args:
            builder: of the task.
            source: draws its inputs.
            oracle: judges outcomes.
            options: as the user gave them.
            seed: of the run.
            routines: judges routines in assembly, where the task is one.
            kernels: judges kernels in PTX, where the task is one.
        """
        self._builder = builder
        self._source = source
        self._oracle = oracle
        self._options = options
        self._seed = seed
        self._routines = routines
        self._kernels = kernels

    def early(self) -> tuple[RungCheck, ...]:
        """Returns those that need no baseline."""
        build = Build(self._builder)
        if self._kernels is not None:
            return PtxScreen(self._kernels), PtxBuild(self._kernels, build)
        return Screen(self._builder.task), build if self._routines is None else RoutineBuild(self._routines, build)

    def later(self, baseline: Baseline, comparing: Comparing, own: OwnTests | None) -> tuple[RungCheck, ...]:
        """Returns those that need it.

        Args:
            baseline: validated.
            comparing: compares candidates with it.
            own: the target's own tests; None where it has none.
        """
        builder = self._builder
        tests = Tests(builder, self._source, self._oracle, own, baseline.limit)
        extra = tuple(Extra(name, one, builder) for name, one in extra_rungs())
        prove = () if self._routines is None else (Prove(self._routines),)
        return tests, self._differential(baseline, comparing), self._hazard(baseline), *prove, *extra

    def _differential(self, baseline: Baseline, comparing: Comparing) -> RungCheck:
        found: RungCheck = Differential(comparing, self._options.until)
        if self._routines is not None:
            found = RoutineDifferential(self._routines, found, self._options.until)
        if self._options.protocol is None:
            return found
        return WithProtocol(KernelBench(self._builder, baseline.artifact, baseline.limit), found)

    def _hazard(self, baseline: Baseline) -> RungCheck:
        if self._kernels is not None:
            return GuardedBuffers()
        of_module = self._builder.task.module is not None
        found = (SanitizedKernels if of_module else Sanitized)(self._builder, self._source, baseline, self._seed)
        return found if self._routines is None else WatchedCalls(found)
