"""What is told of a fault: the register, the buffer, the offset and the input, in words and as data."""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterable
from typing import Any

from whet.core.signature import Argument, Role
from whet.core.verdict import Reason
from whet.evaluators.abi.conventions import Convention, changed
from whet.evaluators.abi.deck import CALL_MILLISECONDS, Deck, Laid
from whet.evaluators.abi.wire import NO_ROOM, NONE, STACK_ROOM, Record, Stop
from whet.evaluators.compare import show
from whet.evaluators.finding import Fault, Skipped
from whet.evaluators.inputs.contract import CODES
from whet.sandbox.inside.native_values import SIZES

ILLEGAL, TRAP, ABORTED, BUS, ARITHMETIC, SEGMENT, TIMER = 4, 5, 6, 7, 8, 11, 27
GENERAL_PROTECTION = 128
"""si_code of what x86 does not say the address of."""
WILD_RETURNS = (b"\xc3", b"\xc2", b"\xf3\xc3", b"\xf2\xc3")
DELIBERATE = (b"\x0f\x0b", b"\0\0\0\0", b"\0\0", b"\x73\x10\x00\xc0")
"""Instructions that are illegal on every machine: ud2, udf, and both of RISC-V's unimp."""


class Teller:
    """Puts what went wrong into words.

    Args:
        deck: the cases.
        symbol: of the function.
        convention: of its instruction set.
    """

    def __init__(self, deck: Deck, symbol: str, convention: Convention) -> None:
        self._deck = deck
        self._symbol = symbol
        self._convention = convention
        self._arguments = {one.name: one for one in deck.signature.arguments}
        self._writable = [number for number, room in enumerate(deck.rooms) if room.writable]

    def contents(self, laid: Laid, name: str, data: bytes | None = None) -> bytes:
        """Returns the bytes of a buffer.

        Args:
            laid: the case.
            name: of the buffer.
            data: what its room's image became; None is what it was before the call.
        """
        spot = laid.spots[name]
        image = laid.images[spot.room]
        start = spot.offset - image.offset
        return (image.data if data is None else data)[start : start + laid.case.lengths[name]]

    def fault(self, number: int, reason: Reason, what: str) -> Fault:
        """Returns a fault on a case, with its input."""
        laid = self._deck.laid[number]
        arguments = {one.name: self._value(laid, one) for one in self._deck.signature.given}
        shown = ", ".join(f"{name}={show(value)}" for name, value in arguments.items())
        sizes = ", ".join(
            f"{one.name}={laid.case.numbers[one.name]}"
            for one in self._deck.signature.arguments
            if one.role is Role.SIZE
        )
        lines = [f"{what}{sizes and f' ({sizes})'}", f"on {self._symbol}({shown}){self._lie(laid)}"]
        evidence: dict[str, Any] = {"case": number, "arguments": {name: plain(v) for name, v in arguments.items()}}
        return Fault(reason, "\n".join(lines), evidence | {"at_end": laid.case.at_end})

    def _lie(self, laid: Laid) -> str:
        if laid.overlap is None:
            return ""
        guest, host, shift = laid.overlap
        return f", {guest} beginning {f'{shift:+} bytes from' if shift else 'where'} {host}{'' if shift else ' does'}"

    def _value(self, laid: Laid, one: Argument) -> Any:
        if not one.buffer:
            return laid.case.numbers[one.name]
        return array(CODES[one.type], self.contents(laid, one.name)).tolist()

    # records

    def violation(self, number: int, record: Record) -> Fault | None:
        """Returns what a call left otherwise than the ABI, or the contract of its buffers, has it."""
        laid = self._deck.laid[number]
        for found in (self._registers(laid, record), self._strays(laid, record)):
            if found:
                return self.fault(number, *found)
        if record.frame != laid.frame:
            return self.fault(number, Reason.ABI_VIOLATION, f"{self._symbol} writes into its caller's stack frame")
        if record.externs:
            how = "a misaligned stack pointer" if record.externs & 1 else "the direction flag set"
            return self.fault(number, Reason.ABI_VIOLATION, f"{self._symbol} calls a function with {how}")
        return None

    def _registers(self, laid: Laid, record: Record) -> tuple[Reason, str] | None:
        convention = self._convention
        said = ""
        if lost := changed(convention.kept, laid.kept, record.kept):
            said = f"{', '.join(lost)} {'does' if len(lost) == 1 else 'do'} not hold what the caller had there"
        elif record.sp:
            said = f"{convention.stack} is {abs(record.sp)} bytes too {'high' if record.sp > 0 else 'low'} on return"
        elif record.flags:
            said = "the direction flag is set on return" if convention.x87 else "gp or tp is changed on return"
        elif record.control != convention.control[1]:
            name, before = convention.control
            said = f"{name} is {record.control:#x} on return, and was {before:#x} (without its status bits)"
        elif record.x87 != convention.x87:
            word = record.x87 & 0xFFFF
            said = f"the x87 control word is {word:#x} on return" if word != 0x37F else "the x87 stack is not empty"
            said += " on return: MMX code ends with emms" if word == 0x37F else ""
        return (Reason.ABI_VIOLATION, said) if said else None

    def _strays(self, laid: Laid, record: Record) -> tuple[Reason, str] | None:
        for room, (stray, _) in zip(self._writable, record.written, strict=True):
            if stray == NONE:
                continue
            name = self._nearest(laid, room, stray)
            return Reason.MEMORY_ERROR, f"{self._symbol} writes {self._place(laid, name, stray)}"
        return None

    def _nearest(self, laid: Laid, room: int, offset: int) -> str:
        """Returns the buffer of a room that an offset is in, or nearest to."""

        def distance(name: str) -> int:
            start = laid.spots[name].offset
            return max(start - offset, offset - (start + laid.case.lengths[name]) + 1, 0)

        held = [name for name, spot in laid.spots.items() if spot.room == room]
        return min(held, key=distance) if held else next(iter(laid.spots))

    def _place(self, laid: Laid, name: str, offset: int) -> str:
        """Returns an offset in a room in words: past the end of a buffer, in front of it, or within it."""
        at, length = offset - laid.spots[name].offset, laid.case.lengths[name]
        if at >= length:
            return f"past the end of {name}: byte {at} of {length}"
        if at < 0:
            return f"{-at} byte{'s' if at < -1 else ''} in front of {name}"
        return f"byte {at} of {length} of {name} (element {at // SIZES[self._arguments[name].type]})"

    # signals

    def stopped(self, number: int, stop: Stop) -> Fault | Skipped:
        """Returns what a signal says."""
        at = self._where(stop)
        if stop.signal == TIMER:
            seconds = CALL_MILLISECONDS / 1000
            return self.fault(number, Reason.TIMEOUT, f"{self._symbol} does not return within {seconds:g} s{at}")
        if stop.signal == ILLEGAL and stop.inside and not stop.instruction.startswith(DELIBERATE):
            shown = stop.instruction[:8].hex(" ")
            return Skipped(
                Reason.UNSUPPORTED_CPU, f"unsupported here: this machine lacks the instruction{at} (bytes {shown})"
            )
        if wild := self._wild(stop):
            return self.fault(number, Reason.ABI_VIOLATION, wild)
        if stop.signal in (SEGMENT, BUS):
            return self.fault(number, *self._touched(self._deck.laid[number], stop, at))
        names = {ILLEGAL: "an illegal instruction", TRAP: "a trap", ABORTED: "abort", ARITHMETIC: "a division error"}
        name = names.get(stop.signal, f"signal {stop.signal}")
        return self.fault(number, Reason.CRASH, f"{self._symbol} ends in {name}{at}")

    def _where(self, stop: Stop) -> str:
        return f" at {self._symbol}{stop.pc:+#x}" if stop.inside else " outside its own code"

    def _wild(self, stop: Stop) -> str:
        """Returns what is wrong with an address that the function returned or jumped to; empty where it did neither."""
        returning = self._convention.x87 and stop.inside and stop.instruction.startswith(WILD_RETURNS)
        if returning and stop.code == GENERAL_PROTECTION:
            off = stop.sp + 8  # the return address lies below what the stack pointer was
        elif stop.access == "executes" and not stop.inside:
            off = stop.sp
        else:
            return ""
        name = self._convention.stack
        how = f"{name} is off by {off} bytes there" if off else "the return address was lost"
        return f"{self._symbol} returns or jumps to an address that is no code: {how}"

    def _touched(self, laid: Laid, stop: Stop, at: str) -> tuple[Reason, str]:
        if stop.room == STACK_ROOM:
            return Reason.CRASH, f"{self._symbol} {stop.access} {stop.offset:+} bytes from its stack pointer{at}"
        if stop.room != NO_ROOM:
            name = self._nearest(laid, stop.room, stop.offset)
            start, length = laid.spots[name].offset, laid.case.lengths[name]
            const = start <= stop.offset < start + length and stop.access != "reads"
            only = ", which it may only read" if const else ""
            return (
                Reason.MEMORY_ERROR,
                f"{self._symbol} {stop.access} {self._place(laid, name, stop.offset)}{only},{at}",
            )
        if stop.code == GENERAL_PROTECTION and self._convention.x87:
            why = "an address is misaligned for its instruction, or is none"
            return Reason.CRASH, f"{self._symbol} ends in a general protection fault{at}: {why}"
        return Reason.MEMORY_ERROR, f"{self._symbol} {stop.access} address {stop.offset:#x}, in no buffer,{at}"

    # values

    def wrong_integers(
        self, number: int, ours: Record, theirs: Record, written: Iterable[tuple[str, bytes, bytes]]
    ) -> Fault | None:
        """Returns the first integer that is wrong, of the result and then of what was written; see `written`."""
        kind = self._deck.signature.returns
        if kind is not None and not kind.startswith("float") and ours.returned != theirs.returned:
            expected, got = (self.number(kind, record) for record in (ours, theirs))
            extra = "" if expected != got else f" (in all of the register: {theirs.returned:#x})"
            return self.fault(number, Reason.WRONG_OUTPUT, f"expected the result {expected}, got {got}{extra}")
        for name, mine, other in written:
            kind = self._arguments[name].type
            if kind.startswith("float") or mine == other:
                continue
            wanted, found = (array(CODES[kind], data) for data in (mine, other))
            at = next(i for i, value in enumerate(wanted) if value != found[i])
            said = f"{name}[{at}]: expected {wanted[at]}, got {found[at]}"
            return self.fault(number, Reason.WRONG_OUTPUT, said)
        return None

    def written(self, laid: Laid, ours: Record, theirs: Record) -> list[tuple[str, bytes, bytes]]:
        """Returns of each buffer that is written what both sides left in it; of one in another's room too."""
        images = {
            room: (mine, other)
            for room, (_, mine), (_, other) in zip(self._writable, ours.written, theirs.written, strict=True)
        }
        return [
            (name, self.contents(laid, name, images[spot.room][0]), self.contents(laid, name, images[spot.room][1]))
            for name, spot in laid.spots.items()
            if spot.room in images
        ]

    def number(self, kind: str, record: Record) -> int | float:
        """Returns the result of a call."""
        if kind.startswith("float"):
            return float(array(CODES[kind], struct.pack("<Q", record.returned_float)[: SIZES[kind]])[0])
        return int(array(CODES[kind], struct.pack("<Q", record.returned)[: SIZES[kind]])[0])


def plain(value: Any) -> Any:
    """Returns a value as plain JSON data: floats that JSON lacks as text."""
    if isinstance(value, list):
        return [plain(item) for item in value]
    return repr(value) if isinstance(value, float) and value - value != 0 else value
