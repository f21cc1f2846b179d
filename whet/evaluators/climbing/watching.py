"""The rungs ``hazard`` and ``prove``, and those of plug-ins: they look at a candidate that inputs found right."""

from __future__ import annotations

from whet.evaluators.artifacts import Builder
from whet.evaluators.assembly.routines import Routines
from whet.evaluators.baseline import Baseline
from whet.evaluators.climbing.rung import Climber, RungCheck
from whet.evaluators.extra_rungs import ExtraRung, checked
from whet.evaluators.finding import Finding, Passed, Skipped
from whet.evaluators.hazard import check_hazards
from whet.evaluators.inputs.source import InputSource, derive
from whet.evaluators.kernels.sanitizer import check_kernels
from whet.evaluators.rungs import with_the_baseline


class Sanitized:
    """Runs of a program under sanitizers."""

    name = "hazard"

    def __init__(self, builder: Builder, source: InputSource, baseline: Baseline, seed: int) -> None:
        self._builder = builder
        self._source = source
        self._baseline = baseline
        self._seed = seed

    def climb(self, climber: Climber) -> Finding | None:
        """See `RungCheck.climb`."""
        candidate, limit, costs = climber.candidate, self._baseline.limit, self._baseline.costs
        seed = derive(self._seed, "hazard", candidate.id)
        return with_the_baseline(
            seed, lambda own: check_hazards(self._builder, candidate.source, self._source, own, limit, costs)
        )


class WatchedCalls:
    """What the calls of a routine came to, which were watched; a rewrite in C has runs under sanitizers instead."""

    name = "hazard"

    def __init__(self, otherwise: RungCheck) -> None:
        self._otherwise = otherwise

    def climb(self, climber: Climber) -> Finding | None:
        """See `RungCheck.climb`."""
        if climber.watched is not None and climber.watched.detail:
            return Passed(f"registers, stack and memory were watched: {climber.watched.detail}")
        return self._otherwise.climb(climber)


class SanitizedKernels:
    """Calls of a tensor kernel under the tools of the CUDA toolkit."""

    name = "hazard"

    def __init__(self, builder: Builder, source: InputSource, baseline: Baseline, seed: int) -> None:
        self._builder = builder
        self._source = source
        self._baseline = baseline
        self._seed = seed

    def climb(self, climber: Climber) -> Finding | None:
        """See `RungCheck.climb`."""
        answer = self._builder.built(climber.candidate.source)
        seed = derive(self._seed, "hazard", climber.candidate.id)
        return check_kernels(self._baseline.artifact, answer, self._source, seed)


class GuardedBuffers:
    """Kernels in PTX: each launch looks at the memory around its buffers."""

    name = "hazard"

    def climb(self, climber: Climber) -> Finding:
        """See `RungCheck.climb`."""
        return Passed("the memory around each buffer was looked at after each launch")


class Prove:
    """Whether a routine can be proved equal to its reference."""

    name = "prove"

    def __init__(self, routines: Routines) -> None:
        self._routines = routines

    def climb(self, climber: Climber) -> Finding:
        """See `RungCheck.climb`."""
        return self._routines.prove(climber.candidate.source) if climber.proof is None else climber.proof.found()


class Extra:
    """A rung of a plug-in."""

    def __init__(self, name: str, extra: ExtraRung | Skipped, builder: Builder) -> None:
        self.name = name
        self._extra = extra
        self._builder = builder

    def climb(self, climber: Climber) -> Finding | None:
        """See `RungCheck.climb`."""
        return checked(self.name, self._extra, self._builder, climber.candidate)
