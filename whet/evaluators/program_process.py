"""Programs that are run anew for every input; the clock out here has the last word on what they took."""

from __future__ import annotations

from collections.abc import Generator, Sequence

from whet.core.verdict import Reason
from whet.evaluators.finding import Fault
from whet.evaluators.processes import START_SECONDS, CallResult, Pass, fault
from whet.evaluators.scheduling import Watch
from whet.sandbox.inside.codec import encode
from whet.sandbox.protocol import CpuLimit, Incident, Session


class ProgramProcess:
    """A program: a new process of it for every input."""

    def __init__(self, session: Session, argv: list[str]) -> None:
        self._session = session
        self._argv = argv

    @property
    def session(self) -> Session:
        """What it talks through."""
        return self._session

    def call(self, payload: bytes, seconds: float | CpuLimit) -> CallResult:
        """See `TargetProcess.call`."""
        result = self._run(payload, seconds)
        return result if isinstance(result, Fault) else (result.outcomes[0], result.inside)

    def calls(self, payloads: Sequence[bytes], seconds: float | CpuLimit, way: str = "call") -> Generator[CallResult]:
        """See `TargetProcess.calls`; each runs when its answer is wanted."""
        for payload in payloads:
            yield (answer := self.call(payload, seconds))
            if isinstance(answer, Fault):
                return

    def timed(
        self, payloads: Sequence[bytes], seconds: float, repeats: int = 0, called: Sequence[int] | None = None
    ) -> Pass | Fault:
        """See `TargetProcess.timed`; the outcomes are fetched after each window, when nothing of it runs any more."""
        runs: list[Pass] = []
        for payload in payloads:
            run = self._run(payload, seconds)
            if isinstance(run, Fault):
                return run
            runs.append(run)
        return Pass(
            sum(run.outside for run in runs),
            sum(run.inside for run in runs),
            sum(run.cpu for run in runs),
            tuple(outcome for run in runs for outcome in run.outcomes),
            max((run.peak for run in runs), default=0),
            sum(run.waits for run in runs),
            sum(run.preemptions for run in runs),
            ran=_sum([run.ran for run in runs]),
            waited=_sum([run.waited for run in runs]),
            clock=sum(run.clock for run in runs),
            whole=all(run.whole for run in runs),
            windows=len(runs),
        )

    def _run(self, payload: bytes, seconds: float | CpuLimit) -> Pass | Fault:
        try:
            # Else a run could read the result that an earlier one kept in a file.
            self._session.ask("clear", seconds=START_SECONDS)
            self._session.ask("prepare", self._argv, payload, seconds=START_SECONDS)
            watch = Watch(self._session)
            answer, outside = self._session.ask("go", seconds=seconds)
            if answer[0] == "error":
                return Fault(Reason.CRASH, f"it could not be started: {answer[2]}")
            _, code, inside, cpu, peak, waits, preemptions, delayed = answer
            # The launcher's account is read out here; that of the program, which has ended, the launcher has read.
            given = watch.read(ending=1, ended=cpu / 1e9)
            waited = None if given.waited is None or delayed < 0 else given.waited + delayed / 1e9
            (_, stdout, stderr), _ = self._session.ask("output", seconds=START_SECONDS)
        except Incident as incident:
            return fault(incident, seconds)
        if code < 0:
            said = stderr.decode("utf-8", "replace").strip()[-300:]
            flooded = code == -25  # SIGXFSZ: a file over the limit
            reason = Reason.OUTPUT_FLOOD if flooded else Reason.CRASH
            return Fault(reason, f"ended by signal {-code}{': ' + said if said else ''}")
        outcome = encode((code, stdout, stderr[-2000:]))
        figures = outside, inside / 1e9, cpu / 1e9, (outcome,), peak, waits, preemptions
        return Pass(*figures, ran=given.ran, waited=waited, clock=given.clock, whole=given.whole)

    def peak(self) -> int | None:
        """See `TargetProcess.peak`."""
        return self._session.peak()

    def close(self) -> None:
        """See `TargetProcess.close`."""
        self._session.close()


def _sum(told: Sequence[float | None]) -> float | None:
    """Returns the sum of what was told; None where any was not."""
    known = [one for one in told if one is not None]
    return sum(known) if len(known) == len(told) else None
