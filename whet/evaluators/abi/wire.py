"""The driver's language: cases in, records out, as `whet/sandbox/driver/wire.h` has them. Little endian words."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from whet.evaluators.abi.conventions import FLOATS, INTS, STACKED

VECTORS = 32 * 64
KEPT, FRAME, SCRATCH = 24, 8, 8
NONE = (1 << 64) - 1
HIDDEN, CUT = NONE, NONE - 1
"""In place of a number of steps: the function left them, or they were too many."""
STACK_ROOM, NO_ROOM = 254, 255

HEADER = struct.Struct(f"<7Q{VECTORS}s")
ROOM = struct.Struct("<2Q")
GIVEN = struct.Struct(f"<4Q{INTS}Q{FLOATS}Q{STACKED}Q{INTS}B{STACKED}B{SCRATCH}Q{KEPT}Q{FRAME}Q")
CONTENT = struct.Struct("<3Q")
GREETING = struct.Struct("<3Q")
RECORD = struct.Struct(f"<10Q{8 * KEPT}s{8 * FRAME}s")
STARTED = struct.Struct("<2Q")
"""What a record and a fault begin with: nonce and status."""
STEPS = struct.Struct("<Q")
WRITTEN = struct.Struct("<2Q")
FAULT = struct.Struct("<6Q4Q16s")
CLOSING = struct.Struct("<Q")

AT_FILL = 2 * 8
AT_INTS = 4 * 8
AT_FLOATS = AT_INTS + 8 * INTS
AT_STACK = AT_FLOATS + 8 * FLOATS
AT_ROOMS = AT_STACK + 8 * STACKED
AT_KEPT = AT_ROOMS + INTS + STACKED + 8 * SCRATCH
AT_FRAME = AT_KEPT + 8 * KEPT
AT_STEPS = 16


@dataclass(frozen=True, slots=True)
class Room:
    """Memory between guards.

    Attributes:
        bytes: whole pages.
        writable: whether the function may write it.
    """

    bytes: int
    writable: bool


@dataclass(frozen=True, slots=True)
class Image:
    """What a room holds: bytes at an offset, and a fill around them."""

    offset: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Record:
    """What a call left.

    Attributes:
        nonce: of its case.
        steps: instructions that it took, where they were counted; or `HIDDEN` or `CUT`.
        returned: the result's bits, in the first integer register.
        returned_float: the same in the first float register.
        sp: how far off the stack pointer is.
        flags: the direction flag, or changes of registers that nobody may change.
        control: rounding and its kin.
        x87: control word, and tag word above it.
        externs: calls with a misaligned stack (1), or with the direction flag set (2).
        kept: the registers that a callee keeps.
        frame: what lies above the arguments on the stack.
        written: of each writable room, the offset of a stray change (or `NONE`), and the bytes of its image.
    """

    nonce: int
    steps: int
    returned: int
    returned_float: int
    sp: int
    flags: int
    control: int
    x87: int
    externs: int
    kept: bytes
    frame: bytes
    written: tuple[tuple[int, bytes], ...]

    def kept_alike(self, other: Record) -> bool:
        """Whether another call left alike all that is not its results'."""
        return (
            (self.sp, self.flags, self.control, self.x87, self.externs)
            == (other.sp, other.flags, other.control, other.x87, other.externs)
            and (self.kept, self.frame) == (other.kept, other.frame)
            and [stray for stray, _ in self.written] == [stray for stray, _ in other.written]
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Stop:
    """The signal that ended a call, and with it the driver.

    Attributes:
        nonce: of the case.
        signal: its number.
        steps: instructions until then, where they were counted.
        pc: offset from the function's first instruction.
        inside: whether that is code of the object under test.
        sp: offset from the stack pointer before the call.
        room: number of the room that was touched, `STACK_ROOM` or `NO_ROOM`.
        offset: in the room, or from the stack pointer before the call; else an address.
        access: ``reads``, ``writes``, ``executes`` or ``touches``, where nothing more is known.
        code: of the kernel.
        instruction: bytes from there on; zeros where they are no code of the object.
    """

    nonce: int
    signal: int
    steps: int
    pc: int
    inside: bool
    sp: int
    room: int
    offset: int
    access: str
    code: int
    instruction: bytes


def pack_header(
    cases: int, rooms: Sequence[Room], steps: int, milliseconds: int, masks: tuple[int, int], closing: int, noise: bytes
) -> bytes:
    """Returns what comes before the cases.

    Args:
        cases: how many follow.
        rooms: where their buffers lie.
        steps: in all calls together, after which none is taken any more.
        milliseconds: of CPU time that a call may take.
        masks: bits of the first integer and float register that a result is.
        closing: what the driver writes when all is done.
        noise: what vector registers hold.
    """
    head = HEADER.pack(cases, len(rooms), steps, milliseconds, *masks, closing, noise)
    return head + b"".join(ROOM.pack(room.bytes, room.writable) for room in rooms)


def pack_images(images: Sequence[Image], fill: int) -> bytes:
    """Returns what the rooms of a case hold, one after the other.

    Args:
        images: of the rooms.
        fill: the byte around them: at their ends, it is left out.
    """
    parts: list[bytes] = []
    for one in images:
        held = one.data.rstrip(bytes((fill,)))
        parts += (CONTENT.pack(one.offset, len(one.data), len(held)), held, bytes(-len(held) % 8))
    return b"".join(parts)


def record_length(lengths: Sequence[int]) -> int:
    """Returns the bytes of a record whose writable rooms hold so many."""
    return RECORD.size + sum(WRITTEN.size + length + -length % 8 for length in lengths)


def read_record(data: bytes, lengths: Sequence[int]) -> Record | None:
    """Returns a record; None where it is not in the form that the driver writes.

    Args:
        data: its bytes: hostile.
        lengths: of the writable rooms' images.
    """
    nonce, _, steps, returned, real, sp, flags, control, x87, externs, kept, frame = RECORD.unpack_from(data)
    written = []
    for length, (at, stray, found) in zip(lengths, _rooms(data, lengths), strict=True):
        if found != length:
            return None
        written.append((stray, data[at : at + length]))
    return Record(nonce, steps, returned, real, _signed(sp), flags, control, x87, externs, kept, frame, tuple(written))


def _rooms(data: bytes, lengths: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    at = RECORD.size
    for length in lengths:
        stray, found = WRITTEN.unpack_from(data, at)
        yield at + WRITTEN.size, stray, found
        at += WRITTEN.size + length + -length % 8


def read_stop(data: bytes) -> Stop:
    """Returns what a signal left."""
    nonce, signal, steps, pc, inside, sp, room, offset, access, code, instruction = FAULT.unpack(data)
    kinds = ("reads", "writes", "executes", "touches")
    place = _signed(offset) if room != NO_ROOM else offset
    return Stop(
        nonce, signal, steps, _signed(pc), bool(inside), _signed(sp), room, place, kinds[min(access, 3)], _signed(code),
        instruction,
    )  # fmt: skip


def _signed(word: int) -> int:
    return word - (word >> 63 << 64)
