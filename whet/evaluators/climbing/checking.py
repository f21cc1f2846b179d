"""The rungs ``test`` and ``differential``: what a candidate makes of inputs."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

from whet.core.rungs import beyond
from whet.core.verdict import Reason
from whet.evaluators.artifacts import Artifact, Builder
from whet.evaluators.assembly.routines import Routines
from whet.evaluators.climbing.comparing import Compared, Comparing
from whet.evaluators.climbing.rung import Climber, RungCheck
from whet.evaluators.finding import Fault, Finding, Inconclusive, Passed, RungEndedError, Skipped, found_by, sound
from whet.evaluators.hidden_state import Elsewhere
from whet.evaluators.inputs.source import Input, InputSource
from whet.evaluators.kernels import protocol
from whet.evaluators.oracle import Oracle
from whet.evaluators.own_tests import OwnTests
from whet.evaluators.pairs import Side
from whet.evaluators.rungs import with_the_baseline


def cases_of(source: InputSource) -> list[Input]:
    """Returns the recorded cases of a task whose outcome is known."""
    return [case for case in source.cases if case.expected is not None]


def expect_right(cases: list[Input], artifact: Artifact, hash_seed: int, seconds: float, oracle: Oracle) -> None:
    """Returns where nothing is wrong with a candidate on recorded cases.

    Args:
        cases: with what is expected.
        artifact: the candidate.
        hash_seed: of its process.
        seconds: that a call may take.
        oracle: judges the outcomes.

    Raises:
        RungEndedError: something is.
    """
    with closing(Side(artifact, hash_seed)) as side:
        for case in cases:
            answer = side.call(case.payload, seconds)
            if isinstance(answer, Fault):
                raise RungEndedError(Fault(answer.reason, f"{answer.detail}\n{oracle.input_text(case)}"))
            sound(oracle.judge(case, answer[0], answer[0]))


class Tests:
    """The target's own tests and its recorded cases."""

    name = "test"

    def __init__(
        self, builder: Builder, source: InputSource, oracle: Oracle, own: OwnTests | None, seconds: float
    ) -> None:
        """Runs nothing yet.

        Args:
            builder: of the task.
            source: has the cases.
            oracle: judges their outcomes.
            own: the target's own tests; None where it has none.
            seconds: that a call may take.
        """
        self._builder = builder
        self._source = source
        self._oracle = oracle
        self._own = own
        self._seconds = seconds

    def climb(self, climber: Climber) -> Finding | None:
        """See `RungCheck.climb`."""
        cases = cases_of(self._source)
        if self._own is None and not cases:
            return None
        tested = Passed("")
        if self._own is not None:
            tested = self._own.check(self._builder.sandbox, self._builder.interpreter, climber.candidate.source)
        if cases:
            expect_right(cases, climber.built.artifact, climber.batch.hash_seed, self._seconds, self._oracle)
        detail = "; ".join(filter(None, (tested.detail, f"{len(cases)} cases pass" if cases else "")))
        return Passed(detail, tested.evidence)


class Differential:
    """Fresh inputs, on which a candidate does what the baseline does."""

    name = "differential"

    def __init__(self, comparing: Comparing, until: str | None) -> None:
        """Runs nothing yet.

        Args:
            comparing: compares it with the baseline.
            until: the last rung that was asked for, if not all were.
        """
        self._comparing = comparing
        # A fork of a warm worker with other hashes and another address layout. What a candidate does in a process that
        # is no fork is seen before it is reported: when it is confirmed, or here where nobody asks for that.
        self._forked = not beyond("confirm", until)

    def climb(self, climber: Climber) -> Finding:
        """See `RungCheck.climb`."""
        batch = climber.batch
        elsewhere = Elsewhere(batch.other_hash_seed, worker=0) if self._forked else None

        def compare(seed: int) -> Compared:
            if seed == batch.seed:  # others are compared beside it
                return self._comparing.compared(batch.examination, climber.built, elsewhere)
            return self._comparing.alone(climber.candidate, seed, batch.hash_seed)

        return with_the_baseline(batch.seed, compare)


class RoutineDifferential:
    """The same of a routine, which is first called beside its reference, its registers, stack and memory watched."""

    name = "differential"

    def __init__(self, routines: Routines, differential: RungCheck, until: str | None) -> None:
        """Runs nothing yet.

        Args:
            routines: call it.
            differential: compares it after that.
            until: the last rung that was asked for, if not all were.
        """
        self._routines = routines
        self._differential = differential
        self._proving = not beyond("prove", until)

    def climb(self, climber: Climber) -> Finding | None:
        """See `RungCheck.climb`."""
        if self._proving:
            climber.proof = self._routines.prove_beside(climber.candidate.source)
        called = self._routines.check(climber.candidate.source, climber.batch.seed)
        if isinstance(called, Fault) or (isinstance(called, Skipped) and called.reason is Reason.UNSUPPORTED_CPU):
            return called
        climber.watched = called if isinstance(called, Passed) else Passed("")
        return self._differential.climb(climber)


class WithProtocol:
    """The same of a tensor kernel, with what KernelBench's own rule says beside it, which decides nothing."""

    name = "differential"

    def __init__(self, rule: protocol.KernelBench, differential: RungCheck) -> None:
        self._rule = rule
        self._differential = differential

    def climb(self, climber: Climber) -> Finding | None:
        """See `RungCheck.climb`."""
        found = found_by(lambda: self._differential.climb(climber))
        assert isinstance(found, Fault | Passed | Inconclusive), "it is compared"
        said = self._rule.judge(climber.built.artifact)
        evidence = {**found.evidence, "protocol": said}
        return replace(found, detail=f"{found.detail}\n{protocol.told(said)}", evidence=evidence)
