"""Judges what a candidate's calls left by what the reference's left, out here, on the smallest case that tells."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from whet.core.errors import BaselineError
from whet.core.signature import Role
from whet.core.task import Tolerance
from whet.core.verdict import Reason
from whet.evaluators.abi.cases import payload
from whet.evaluators.abi.conventions import Convention
from whet.evaluators.abi.deck import Deck, Laid
from whet.evaluators.abi.floats import Differing, FloatRule, first_wrong
from whet.evaluators.abi.records import DriverOutput
from whet.evaluators.abi.telling import Teller
from whet.evaluators.abi.truth import Known
from whet.evaluators.abi.wire import AT_STEPS, CUT, HIDDEN, STEPS, Record, Stop, read_record
from whet.evaluators.finding import Fault, Skipped
from whet.sandbox.inside.codec import Elements, encode
from whet.sandbox.inside.native_target import DTYPES
from whet.sandbox.inside.native_values import SIZES

MANGLED = "the driver's output is not what it writes: a record holds other lengths"
RED_ZONE = (
    "keeps data more than 128 bytes below rsp, where a signal may overwrite it: stepped through with that memory "
    "overwritten after each instruction, it {what}"
)


class Judge:
    """Knows what the reference made of a deck. Safe for several threads.

    Args:
        deck: the cases.
        symbol: of the function.
        convention: of its instruction set.
        reference: what the reference's calls left.
        tolerance: of the task, for floats.
        floats: judges an error ratio.
        known: knows which errors are surely allowed; None knows of none.

    Raises:
        BaselineError: the reference itself breaks the ABI or its contract, or does not run here.
    """

    def __init__(
        self,
        deck: Deck,
        symbol: str,
        convention: Convention,
        reference: DriverOutput,
        tolerance: Tolerance,
        floats: FloatRule | None,
        known: Known | None,
    ) -> None:
        self._deck = deck
        self._teller = Teller(deck, symbol, convention)
        self._tolerance = tolerance
        self._floats = floats
        self._known = known
        self._plain = sum(laid.twin is None for laid in deck.laid)
        self._smallest_first = sorted(range(self._plain), key=lambda number: deck.laid[number].case.bulk)
        self._ours = reference.records
        self._ours_read = self._expect(reference)

    def _expect(self, reference: DriverOutput) -> list[Record]:
        """Returns what the reference left, in which nothing breaks the ABI or the contract of its buffers."""
        found = reference.end or (reference.stop and self._teller.stopped(len(reference.records), reference.stop))
        read = [self._read(number, data) for number, data in enumerate(reference.records)]
        records = [record for record in read if record is not None]  # all of them: the reference is no forger
        violations = (self._teller.violation(number, record) for number, record in enumerate(records))
        if found := found or next((one for one in violations if one is not None), None):
            raise BaselineError(f"the reference itself fails its contract: {found.detail}", str(found.reason))
        return records

    def fault(self, told: DriverOutput) -> Fault | Skipped | None:
        """Returns what is wrong with a candidate on the smallest case that shows it; None where nothing is."""
        if told.end is not None and told.end.reason is Reason.CHEATING:
            return told.end
        plain = told.records[: self._plain]
        found: Fault | Skipped | None = None
        if plain != self._ours[: self._plain]:
            found = self._smallest({n: data for n, data in enumerate(plain) if data != self._ours[n]})
        number = len(told.records)
        if told.stop is not None and number < self._plain:
            found = self._smaller(found, number, told.stop)
        if found is None:
            found = self._stepped(told)
        return found or told.end

    def steps(self, told: DriverOutput) -> list[tuple[Laid, int]]:
        """Returns the instructions of each case that was taken step by step to its end."""
        both = zip(self._deck.laid, told.records, strict=False)
        counted = [(laid, int(STEPS.unpack_from(data, AT_STEPS)[0])) for laid, data in both if laid.twin is not None]
        return [(laid, steps) for laid, steps in counted if steps < CUT]

    def _smaller(self, found: Fault | Skipped | None, number: int, stop: Stop) -> Fault | Skipped:
        """Returns what a signal says, or what was found on a case that is smaller."""
        if isinstance(found, Fault):
            other = self._deck.laid[found.evidence["case"]].case
            if other.bulk < self._deck.laid[number].case.bulk:
                return found
        return self._teller.stopped(number, stop)

    def _smallest(self, records: Mapping[int, bytes]) -> Fault | None:
        """Returns what is wrong on the smallest of the cases whose records differ from the reference's, if anything."""
        maybe: list[Differing] = []
        definite = None
        for number in (number for number in self._smallest_first if number in records):
            record, ours = self._read(number, records[number]), self._ours_read[number]
            if record is None:
                return Fault(Reason.CHEATING, MANGLED)
            written = self._teller.written(self._deck.laid[number], ours, record)
            definite = self._violation(number, ours, record) or self._teller.wrong_integers(
                number, ours, record, written
            )
            if definite is None:
                if differing := self._differing(number, ours, record, written):
                    maybe.append(differing)
                else:
                    what = "the memory between two overlapping buffers is changed"
                    definite = self._teller.fault(number, Reason.MEMORY_ERROR, what)
            if definite is not None:
                break
        # Those came before it, so each of them is smaller.
        if wrong := first_wrong(maybe, self._tolerance, self._floats, self._surely_right):
            return self._teller.fault(wrong[0], Reason.WRONG_OUTPUT, wrong[1])
        return definite

    def _surely_right(self, items: Sequence[Differing]) -> Sequence[bool]:
        if self._known is None:
            return [False] * len(items)
        return self._known.surely_right(items, self._tolerance.error_ratio)

    def _violation(self, number: int, ours: Record, theirs: Record) -> Fault | None:
        """Returns what breaks the ABI; what the reference left as well was found to break nothing."""
        return None if theirs.kept_alike(ours) else self._teller.violation(number, theirs)

    def _read(self, number: int, data: bytes) -> Record | None:
        return read_record(data, self._deck.laid[number].lengths)

    def _differing(
        self, number: int, ours: Record, theirs: Record, buffers: Iterable[tuple[str, bytes, bytes]]
    ) -> Differing | None:
        """Returns the floats of a case in which nothing else differs; None where none of them does either."""
        laid, signature = self._deck.laid[number], self._deck.signature
        written = {name: (mine, other) for name, mine, other in buffers}
        types = {one.name: one.type for one in signature.arguments if one.name in written and "float" in one.type}
        sides: tuple[dict[str, bytes], dict[str, bytes]] = ({}, {})
        for side, record, results in zip((0, 1), (ours, theirs), sides, strict=True):
            results.update({name: written[name][side] for name in types})
            if signature.returns is not None and "float" in signature.returns:
                word = record.returned_float.to_bytes(8, "little")
                results["result"] = word[: SIZES[signature.returns]]
        if sides[0] == sides[1]:
            return None
        if "result" in sides[0]:
            types["result"] = str(signature.returns)
        apart = laid.overlap is None or not self._deck.rooms[laid.spots[laid.overlap[1]].room].writable
        return Differing(
            number, types, *sides, partial(self._payload, laid) if apart else None,
            lambda: (self._outcome(ours, 0, written), self._outcome(theirs, 1, written)),
        )  # fmt: skip

    def _payload(self, laid: Laid) -> bytes:
        """Returns the input of a case, with what overlapping buffers hold in truth."""
        read = {one.name: self._teller.contents(laid, one.name) for one in self._deck.signature.given if one.buffer}
        return payload(self._deck.signature, replace(laid.case, contents=read))

    def _outcome(self, record: Record, side: int, written: Mapping[str, tuple[bytes, bytes]]) -> bytes:
        """Returns an outcome as `whet.sandbox.inside.native_target.NativeTarget` gives it, for the judge of floats."""
        signature = self._deck.signature
        returned: Any = None
        if signature.returns is not None:
            returned = self._teller.number(signature.returns, record)
            if "float" in signature.returns:
                data = record.returned_float.to_bytes(8, "little")[: SIZES[signature.returns]]
                returned = Elements(DTYPES[signature.returns], data)
        buffers = [
            Elements(DTYPES[one.type], written[one.name][side])
            for one in signature.arguments
            if one.buffer and one.role is not Role.IN
        ]
        return encode(("value", None, None, (returned, *buffers) if buffers else returned, b""))

    # step by step

    def _stepped(self, told: DriverOutput) -> Fault | Skipped | None:
        """Returns what goes wrong only when memory below the red zone is overwritten after each instruction."""
        for number in range(self._plain, len(told.records)):
            twin = self._deck.laid[number].twin
            record, plain = self._read(number, told.records[number]), self._read(twin or 0, told.records[twin or 0])
            if record is None or plain is None:
                return Fault(Reason.CHEATING, MANGLED)
            if record.steps == HIDDEN:
                return self._seen(number, Reason.CHEATING, "it turns the trap flag off, so as not to be watched")
            if violation := self._teller.violation(number, record):
                return self._spilt(number, violation.detail.splitlines()[0])
            results = [(one.returned, one.returned_float, one.written) for one in (record, plain)]
            if results[0] != results[1]:
                return self._spilt(number, "gives another result")
        if told.stop is not None and len(told.records) >= self._plain:
            stopped = self._teller.stopped(len(told.records), told.stop)
            if isinstance(stopped, Skipped) or stopped.reason is Reason.TIMEOUT:
                return stopped
            return self._spilt(len(told.records), stopped.detail.splitlines()[0])
        return None

    def _spilt(self, number: int, what: str) -> Fault:
        return self._seen(number, Reason.ABI_VIOLATION, RED_ZONE.format(what=what))

    def _seen(self, number: int, reason: Reason, what: str) -> Fault:
        """Returns a fault that single steps alone have shown; its evidence says so."""
        fault = self._teller.fault(number, reason, what)
        return replace(fault, evidence={**fault.evidence, "stepped": True})
