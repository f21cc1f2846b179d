"""Takes apart what the driver wrote: hostile bytes, as the function under test runs in the same process."""

from __future__ import annotations

from dataclasses import dataclass

from whet.core.verdict import Reason
from whet.evaluators.abi.deck import Deck
from whet.evaluators.abi.wire import CLOSING, FAULT, GREETING, STARTED, Stop, read_stop
from whet.evaluators.finding import Fault
from whet.sandbox.toolchains.driver import DriverRun

FORGED = "the driver's output is not what it writes"
SIGNALS = {
    -4: "an illegal instruction", -7: "a bus error", -8: "an arithmetic exception", -9: "SIGKILL",
    -11: "a segmentation fault",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class DriverOutput:
    """What came out of one run.

    Attributes:
        records: of the cases that returned, in their order, unread.
        stop: the signal that ended the next one, if any.
        end: what is wrong with the output itself, if anything.
        greeting: addresses of the function, and of the code that it belongs to.
    """

    records: tuple[bytes, ...]
    stop: Stop | None = None
    end: Fault | None = None
    greeting: tuple[int, int, int] = (0, 0, 0)


def told(deck: Deck, ran: DriverRun) -> DriverOutput:
    """Returns what came out of a run on a deck.

    A record must bear the nonce of its case, and nothing may lack or follow: who writes to the output from within the
    function knows neither the next nonces nor the closing word, but by reading the driver's memory.
    """
    if len(ran.output) < GREETING.size:
        return DriverOutput((), end=_unbegun(ran))
    greeting = GREETING.unpack_from(ran.output)
    records: list[bytes] = []
    at = GREETING.size
    for number, laid in enumerate(deck.laid):
        begun = ran.output[at : at + STARTED.size]
        if len(begun) < STARTED.size:
            return DriverOutput(tuple(records), end=_ended(ran, number, len(deck.laid), len(begun)), greeting=greeting)
        nonce, status = STARTED.unpack(begun)
        if nonce != laid.nonce:
            return DriverOutput(
                tuple(records), end=_forged(f"record {number + 1} bears a wrong nonce"), greeting=greeting
            )
        if status:
            rest = ran.output[at:]
            if len(rest) != FAULT.size:
                return DriverOutput(tuple(records), end=_forged("a record follows the last one"), greeting=greeting)
            return DriverOutput(tuple(records), read_stop(rest), greeting=greeting)
        length = laid.record_length
        if len(ran.output) < at + length:
            return DriverOutput(tuple(records), end=_forged(f"record {number + 1} is cut short"), greeting=greeting)
        records.append(ran.output[at : at + length])
        at += length
    if ran.output[at:] != CLOSING.pack(deck.closing) or ran.code != 0:
        return DriverOutput(tuple(records), end=_forged("it does not end as the driver ends it"), greeting=greeting)
    return DriverOutput(tuple(records), greeting=greeting)


def _forged(why: str) -> Fault:
    return Fault(Reason.CHEATING, f"{FORGED}: {why}")


def _unbegun(ran: DriverRun) -> Fault:
    if ran.incident is not None:
        return _incident(ran)
    if ran.unlinked:
        return Fault(Reason.BUILD_ERROR, f"no library can be made of it: {_last(ran.said)}")
    if ran.said.startswith("driver:"):
        return Fault(Reason.BUILD_ERROR, f"it cannot be loaded: {_last(ran.said.removeprefix('driver:'))}")
    return Fault(Reason.CRASH, f"{_death(ran.code)} before its first call{_said(ran.said)}")


def _ended(ran: DriverRun, number: int, count: int, left: int) -> Fault:
    """Returns why records lack."""
    if left:
        return _forged("it ends within a record")
    if ran.incident is not None:
        return _incident(ran)
    return Fault(Reason.CRASH, f"{_death(ran.code)} in call {number + 1} of {count} or before{_said(ran.said)}")


def _incident(ran: DriverRun) -> Fault:
    assert ran.incident is not None
    reasons = {"timeout": Reason.TIMEOUT, "memory": Reason.OUT_OF_MEMORY, "output_flood": Reason.OUTPUT_FLOOD}
    return Fault(reasons.get(ran.incident.kind, Reason.CRASH), f"all calls together: {ran.incident}")


def _death(code: int | None) -> str:
    if code is None or code >= 0:
        return f"its process ended with code {code}"
    return f"its process ended by {SIGNALS.get(code, f'signal {-code}')}"


def _said(said: str) -> str:
    return f": {_last(said)}" if said else ""


def _last(said: str) -> str:
    return "\n".join(said.strip().splitlines()[-4:])[-600:]
