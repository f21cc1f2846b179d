"""Processes that hold one source text and can be called; the clock out here has the last word on what they say."""

from __future__ import annotations

import struct
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any, Protocol

from whet.core.circumstances import ModuleCost
from whet.core.verdict import Reason
from whet.evaluators.finding import Fault
from whet.evaluators.scheduling import Watch
from whet.sandbox.inside.beside import FAILED, MOST_SAID
from whet.sandbox.inside.module_target import POISONED
from whet.sandbox.protocol import CpuLimit, Incident, Session

START_SECONDS = 30.0
"""Seconds for what is not a timed call: to prepare a run, to hand over its output, to load a module (or the task's
limit, where that is longer). A smaller limit fails slow imports on a busy machine; a larger one only delays the report
of a process that hangs."""
SPENT_BYTES = 8
"""Before each outcome of several: the nanoseconds that it says it took."""
LONGEST = 10**15
"""Nanoseconds that no call lasts: eleven days."""
LONGEST_NAME = 100
"""Characters of a name that a process tells."""
FORGED = "the process forged its answer, or touched the clock"
SETTLING_SECONDS = 0.0015
"""Of calls on the inputs of a pass, before those on new ones: calls right after other work can be slower. Less leaves
more of that in the figures; each millisecond is one for which a clock that lies on new inputs is not found out."""
SLOWER = 4 / 3
"""How many times as long as in the pass these may take: what is beyond that counts as calls on new inputs."""


@dataclass(frozen=True, slots=True)
class NewRound:
    """The round on new inputs that a process meets after a pass.

    Attributes:
        outside: seconds between the question and the last byte of the answer, by the clock out here, less those of the
            rounds of the pass that came first, as long as these took in the pass.
        inside: seconds in the calls, as the process says, and what those rounds took beyond a third more.
        cpu: CPU seconds in them, as the process says, and what those rounds used beyond a third more.
        ran: seconds that its processes were on a processor meanwhile, less likewise; see `Pass`.
        times: how many times as many calls the pass has.
        waited: seconds for which they, or the clock out here, could have run meanwhile and the processor did something
            else than they; None where not all that ran is known. A thread that waits for another of its process, which
            computes what a clock leaves out, is none of it.
    """

    outside: float
    inside: float
    cpu: float
    ran: float | None
    times: float
    waited: float | None = None

    @property
    def undisturbed(self) -> float:
        """Seconds in the calls, less what was waited for others as far as the calls did not run then.

        So short a round may hold a wait that is many times as long.
        """
        return max(min(self.inside, self.cpu), self.inside - (self.waited or 0.0))


@dataclass(frozen=True, slots=True)
class Pass:
    """One timed pass over distinct inputs.

    Attributes:
        outside: seconds between "go" and the last byte of the outcomes, by the clock out here.
        inside: seconds in the calls, as the process says.
        cpu: CPU seconds in the calls, of all their threads and of processes that have ended, as the process says.
        outcomes: one an input.
        peak: resident bytes at the peak, for programs; 0 where it is not known.
        waits: context switches at its own wish, as the process says.
        preemptions: context switches against its wish, as the process says.
        amount: what a metric other than time found: bytes, instructions or joules.
        events: seconds in calls on a GPU by its driver's events; None on the CPU.
        ticks: CPU seconds of the process and its descendants by the kernel's ticks, where these were read.
        ran: seconds that its processes were on a processor in the window, as the kernel tells out here; None where it
            does not.
        waited: seconds for which those threads, or the clock out here, could have run and had no processor; likewise.
        clock: seconds for which the thread with the clock out here ran meanwhile.
        whole: whether `ran` is all of it; see `whet.evaluators.scheduling.ProcessorTime`.
        stolen: seconds for which the hypervisor had taken its processors, in ticks.
        pace: CPU seconds that a fixed piece of work took out here on the first of its processors, right before and
            right after the window on average, see `whet.sandbox.pace`; None where nobody asked.
        windows: how many windows its seconds are the sum of: one for each run of a program.
        cold: seconds by which the first of several rounds took longer than the mean of the others, as the process says;
            less than 0 where it was quicker.
        cold_cpu: the same in CPU seconds.
        renewed: seconds in the calls, as the process says, if each of its rounds had met new inputs; None where rounds
            do not repeat any.
        renewed_outcomes: one for each of those new inputs that are compared.
        new: the round on those.
    """

    outside: float
    inside: float
    cpu: float
    outcomes: tuple[bytes, ...]
    peak: int = 0
    waits: int = 0
    preemptions: int = 0
    amount: float | None = None
    events: float | None = None
    ticks: float | None = None
    ran: float | None = None
    waited: float | None = None
    clock: float = 0.0
    whole: bool = False
    stolen: float = 0.0
    pace: float | None = None
    windows: int = 1
    cold: float = 0.0
    cold_cpu: float = 0.0
    renewed: float | None = None
    renewed_outcomes: tuple[bytes, ...] = ()
    new: NewRound | None = None


CallResult = tuple[bytes, float] | Fault
"""An outcome and the seconds that its process says it took, or what is wrong with the process."""


class TargetProcess(Protocol):
    """A process that holds one source text and nothing else of ours."""

    def call(self, payload: bytes, seconds: float | CpuLimit) -> CallResult:
        """Runs one input."""

    def calls(self, payloads: Sequence[bytes], seconds: float | CpuLimit, way: str = "call") -> Generator[CallResult]:
        """Runs inputs one after the other, each with as many seconds; yields an answer each, a fault as the last one.

        They are handed over at once, so none may be large or dear. Whoever does not take all answers ends the process.

        Args:
            payloads: the inputs.
            seconds: that each may take, by the clock or of CPU time.
            way: ``call``, or for a function ``mutate``: called twice, the second time after the first result was
                changed as a caller may, and answered then.
        """

    def timed(
        self, payloads: Sequence[bytes], seconds: float, repeats: int = 0, called: Sequence[int] | None = None
    ) -> Pass | Fault:
        """Runs distinct inputs in one window.

        Args:
            payloads: the inputs.
            seconds: that it may take.
            repeats: how many times over a native function or a torch module is called on all of them.
            called: the places of those that a function is called on; all the others are only taken in, and outcomes
                handed over in their place. None for all.
        """

    def peak(self) -> int | None:
        """Returns the most bytes that it and all that it started used together, where that was asked for."""

    def close(self) -> None:
        """Ends it."""


REASON_OF = {
    "timeout": Reason.TIMEOUT,
    "crash": Reason.CRASH,
    "memory": Reason.OUT_OF_MEMORY,
    "output_flood": Reason.OUTPUT_FLOOD,
    "protocol": Reason.SANDBOX_VIOLATION,
}


def fault(incident: Incident, seconds: float | CpuLimit) -> Fault:
    """Returns what an incident means for the candidate."""
    limit = f"{seconds.seconds:g} s of CPU time" if isinstance(seconds, CpuLimit) else f"{seconds:g} s"
    detail = f"no answer within {limit}" if incident.kind == "timeout" else str(incident)
    if f"exit code {POISONED}" in detail:
        detail = "one of its kernels broke the CUDA context, as an illegal address does; its process was ended"
    return Fault(REASON_OF[incident.kind], detail)


def _outcome(value: Any) -> bytes:
    if type(value) is not bytes:
        raise ValueError("an outcome that is no bytes")
    return value


def _count(number: Any) -> int:
    # Only whole numbers: one NaN from inside would make every comparison out here false.
    if type(number) is not int or not 0 <= number < LONGEST:
        raise ValueError("a number that counts nothing")
    return number


def _seconds(nanoseconds: Any) -> float:
    return _count(nanoseconds) / 1e9


def _colder(first: Any, others: Any, rounds: int) -> float:
    """Returns by how many seconds the first of some rounds took longer than the mean of the others."""
    once, later = _seconds(first), _seconds(others)
    return once - later / (rounds - 1) if rounds > 1 else 0.0


def _less(whole: float, part: float, rest: float) -> float:
    """Returns a whole less a part of it, of which there is no more than leaves the rest."""
    return whole - min(part, max(0.0, whole - rest))


class FunctionProcess:
    """A process of a Python function. The candidate shares its process, so its answers are hostile.

    Attributes:
        loading: seconds that its module took to load; see `whet.evaluators.artifacts.Artifact.start`.
    """

    def __init__(self, session: Session, loading: float, on_gpu: bool = False) -> None:
        self._session = session
        self.loading = loading
        self._on_gpu = on_gpu
        self._last: Pass | None = None
        self._repeats = 0

    @property
    def session(self) -> Session:
        """What it talks through."""
        return self._session

    def call(self, payload: bytes, seconds: float | CpuLimit) -> CallResult:
        """See `TargetProcess.call`."""
        try:
            (_, outcome, spent), _ = self._session.ask("call", payload, seconds=seconds)
            return _outcome(outcome), _seconds(spent)
        except Incident as incident:
            return fault(incident, seconds)
        except (ValueError, TypeError):
            return Fault(Reason.CHEATING, FORGED)

    def calls(self, payloads: Sequence[bytes], seconds: float | CpuLimit, way: str = "call") -> Generator[CallResult]:
        """See `TargetProcess.calls`."""
        sizes = struct.pack(f"<{len(payloads)}Q", *map(len, payloads))
        question = ("each", way, sizes, b"".join(payloads))
        try:
            with closing(self._session.ask_each(*question, answers=len(payloads), seconds=seconds)) as answers:
                for answer in answers:
                    if len(answer) < SPENT_BYTES:
                        raise ValueError("an answer without its seconds")
                    yield answer[SPENT_BYTES:], _seconds(int.from_bytes(answer[:SPENT_BYTES], "little"))
        except Incident as incident:
            yield fault(incident, seconds)
        except ValueError:
            yield Fault(Reason.CHEATING, FORGED)

    def timed(
        self, payloads: Sequence[bytes], seconds: float, repeats: int = 0, called: Sequence[int] | None = None
    ) -> Pass | Fault:
        """See `TargetProcess.timed`."""
        places = () if called is None else (list(called),)
        try:
            watch = Watch(self._session)
            # The inputs come with "go": before it there is nothing that a thread could begin to work on.
            answer, outside = self._session.ask("go", list(payloads), repeats, *places, seconds=seconds)
            given = watch.read()
            _, inside, cpu, waits, preemptions, first, first_cpu, later_cpu, outcomes, *events = answer
            if len(events) != self._on_gpu:
                raise ValueError("a device's time where there is none, or none of one")
            self._repeats = repeats
            self._last = Pass(
                outside,
                _seconds(inside),
                _seconds(cpu),
                tuple(map(_outcome, outcomes)),
                waits=_count(waits),
                preemptions=_count(preemptions),
                events=_seconds(events[0]) if events else None,
                ran=given.ran,
                waited=given.waited,
                clock=given.clock,
                whole=given.whole,
                cold=_colder(first, _count(inside) - _count(first), repeats),
                cold_cpu=_colder(first_cpu, later_cpu, repeats),
            )
            return self._last
        except Incident as incident:
            return fault(incident, seconds)
        except (ValueError, TypeError):
            return Fault(Reason.CHEATING, FORGED)

    def hot_lines(self, payloads: Sequence[bytes], seconds: float) -> list[tuple[int, int]]:
        """Returns (line, nanoseconds) of the target's file from running inputs for ``seconds``.

        Raises:
            Incident: the process is gone.
        """
        (_, hits), _ = self._session.ask("profile", list(payloads), seconds, seconds=seconds * 3 + START_SECONDS)
        return [(int(line), int(count)) for line, count in hits]

    def helper_calls(
        self, payloads: Sequence[bytes], names: Sequence[str], most: int, seconds: float
    ) -> list[tuple[str, bytes]]:
        """Returns how a Python target calls other functions of its module: see `whet.sandbox.inside.helper_calls`.

        Args:
            payloads: inputs of the target.
            names: of those functions.
            most: calls of each that are kept.
            seconds: that an input may take.

        Raises:
            Incident: the process is gone.
            ValueError: it said what is no call.
        """
        limit = START_SECONDS + seconds * len(payloads)
        (_, rows), _ = self._session.ask("helpers", list(payloads), list(names), most, seconds=limit)
        calls = [(name, call) for name, call in rows if name in names and type(call) is bytes]
        if len(calls) < len(rows):
            raise ValueError("a call that is none")
        return calls

    def beside(self, *question: Any, seconds: float) -> tuple[tuple[Any, ...], float]:
        """Returns what it answers to a question that no verdict waits for, and how long that took.

        Args:
            question: see `whet.sandbox.inside.beside.answer`.
            seconds: that the answer may take.

        Raises:
            Incident: the process is gone.
            ValueError: something was raised on the way to the answer; the message says what.
        """
        (word, *found), spent = self._session.ask(*question, seconds=seconds)
        if word == FAILED:
            raise ValueError(str(found[0])[:MOST_SAID] if found else "it does not say why")
        return tuple(found), spent

    def cost(self, payload: bytes, seconds: float) -> ModuleCost:
        """Returns what a call of a torch module on an input computes and moves.

        Raises:
            Incident: the process is gone.
            ValueError: it could not count, or said what is no count.
        """
        (*counts, number, device), _ = self.beside("cost", payload, seconds=seconds)
        flops, moved, written, operations = map(_count, counts)
        return ModuleCost(flops, moved, written, operations, str(number)[:LONGEST_NAME], str(device)[:LONGEST_NAME])

    def renewed(
        self, payloads: Sequence[bytes], seconds: float, called: Sequence[int] | None = None
    ) -> tuple[NewRound, tuple[bytes, ...]] | Fault:
        """Calls a native function or a torch module once an input, where those of the pass before lie.

        Args:
            payloads: new inputs; where there are more than the pass had, as many at a time as it had.
            seconds: that it may take.
            called: the places of those that a native function is called on; all others are only taken in, and something
                is handed over in their place. None for all.

        Returns:
            the round, of as many calls as one of the pass, and all outcomes.
        """
        places = () if called is None else (list(called),)
        assert self._last is not None, "a pass comes first"
        rounds = self._repeats
        settling = min(rounds, int(SETTLING_SECONDS * rounds / max(self._last.inside, 1e-9)))
        try:
            watch = Watch(self._session)
            answer, outside = self._session.ask("renewed", list(payloads), settling, *places, seconds=seconds)
            given = watch.read()
            _, spent, cpu, first, first_cpu, came_first, outcomes = answer
            share = min(settling, _count(came_first)) / max(1, rounds)
            settled = share * self._last.inside, share * self._last.cpu
            # Else it could work ahead in calls that are not timed.
            inside = _seconds(spent) + max(0.0, _seconds(first) - SLOWER * settled[0])
            used = _seconds(cpu) + max(0.0, _seconds(first_cpu) - SLOWER * settled[1])
            found = NewRound(outside, inside, used, given.ran, 1.0, given.waited_for_others(outside))
            outside = _less(outside, settled[0], inside)
            ran = None if given.ran is None else _less(given.ran, settled[1], used)
            return replace(found, outside=outside, ran=ran), tuple(map(_outcome, outcomes))
        except Incident as incident:
            return fault(incident, seconds)
        except (ValueError, TypeError):
            return Fault(Reason.CHEATING, FORGED)

    def memory_lines(self, payload: bytes, seconds: float, limit: float) -> list[tuple[int, int, int]]:
        """Returns (line of the target's file, bytes, blocks) of an input's run; line 0 stands for the peak of all.

        Args:
            payload: the input.
            seconds: for which each of two runs is followed.
            limit: seconds that a run may take when nobody follows it.

        Raises:
            Incident: the process is gone.
        """
        most = 3 * limit + 4 * seconds + START_SECONDS
        (_, rows), _ = self._session.ask("memory", payload, seconds, seconds=most)
        return [(int(line), int(size), int(count)) for line, size, count in rows]

    def peak(self) -> int | None:
        """See `TargetProcess.peak`."""
        return self._session.peak()

    def close(self) -> None:
        """See `TargetProcess.close`."""
        self._session.close()
