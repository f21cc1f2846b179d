"""Lays cases into memory and registers: what the driver is given, and what its records are read by."""

from __future__ import annotations

import mmap
import random
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from whet.core.signature import Argument, Role, Signature
from whet.evaluators.abi.cases import Case
from whet.evaluators.abi.conventions import INTS, STACKED, ArgumentLocation, Convention, extended, masks, places
from whet.evaluators.abi.wire import (
    AT_FILL,
    AT_FLOATS,
    AT_FRAME,
    AT_INTS,
    AT_KEPT,
    AT_ROOMS,
    AT_STACK,
    FRAME,
    GIVEN,
    VECTORS,
    Image,
    Room,
    pack_header,
    pack_images,
    record_length,
)
from whet.sandbox.inside.native_values import SIZES

OVERLAPPING = 0.25
"""Share of the cases in which buffers overlap, where the contract lets them."""
SHIFTED = 40
"""Elements by which overlapping buffers lie apart at most."""
MOST_STEPS = 5000
"""In all calls of a run: about 50 ms of traps."""
CALL_MILLISECONDS = 2000
"""Milliseconds of CPU time that one call may take before it counts as endless. Buffers hold 64 KiB at most; a smaller
limit could end a slow call in an emulator, a larger one only makes an endless loop slower to report."""


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a buffer begins: number of its room, and the offset there."""

    room: int
    offset: int


@dataclass(frozen=True, slots=True)
class Laid:
    """One case in memory.

    Attributes:
        case: the case.
        spots: of its buffers.
        images: of the rooms, before the call.
        given: its registers, as the driver gets them.
        nonce: which its record must bear.
        lengths: bytes of the writable rooms in its record.
        overlap: names of two buffers that share memory, and bytes from the second to the first; None for none.
        twin: number of the case that this one repeats step by step.
    """

    case: Case
    spots: Mapping[str, Spot]
    images: tuple[Image, ...]
    given: bytes
    nonce: int
    lengths: tuple[int, ...]
    overlap: tuple[str, str, int] | None
    twin: int | None = None

    @property
    def record_length(self) -> int:
        """The bytes of its record."""
        return record_length(self.lengths)

    @property
    def fill(self) -> int:
        """The byte around its buffers."""
        return self.given[AT_FILL]

    @property
    def kept(self) -> bytes:
        """What registers held that a callee keeps."""
        return self.given[AT_KEPT:AT_FRAME]

    @property
    def frame(self) -> bytes:
        """What lay above the arguments on the stack."""
        return self.given[AT_FRAME : AT_FRAME + 8 * FRAME]


@dataclass(frozen=True, slots=True)
class Deck:
    """Cases that are called in one process, in their order.

    Attributes:
        signature: of the function.
        laid: the cases; those that are repeated step by step come last.
        rooms: for their buffers, in the order of the arguments.
        data: what the driver is given.
        closing: what it writes at the end.
    """

    signature: Signature
    laid: tuple[Laid, ...]
    rooms: tuple[Room, ...]
    data: bytes
    closing: int


def deal(
    signature: Signature, cases: Sequence[Case], convention: Convention, seed: int, stepped: Sequence[int] = ()
) -> Deck:
    """Lays cases out.

    Args:
        signature: of the function.
        cases: in their order.
        convention: says what goes where.
        seed: of nonces, garbage and overlaps: secret.
        stepped: numbers of cases to be repeated step by step, after all others.

    Raises:
        UnfitError: more arguments than the driver has places for.
    """
    rng = random.Random(seed)
    buffers = [one for one in signature.arguments if one.buffer]
    widest = {one.name: max((case.lengths[one.name] for case in cases), default=0) for one in buffers}
    rooms = tuple(Room(_pages(widest[one.name], one, buffers), one.role is not Role.IN) for one in buffers)
    table = _Table(signature, convention, places(signature, convention), buffers, rooms, rng)
    laid = [table.lay(case) for case in cases]
    laid += [table.again(laid[number], number) for number in stepped]
    closing = rng.getrandbits(64)
    header = pack_header(
        len(laid), rooms, MOST_STEPS, CALL_MILLISECONDS, masks(signature, convention), closing, rng.randbytes(VECTORS)
    )
    data = b"".join((header, *(part for one in laid for part in (one.given, pack_images(one.images, one.fill)))))
    return Deck(signature, tuple(laid), rooms, data, closing)


def _pages(widest: int, one: Argument, buffers: Sequence[Argument]) -> int:
    """Returns the bytes of a room: for a buffer, and for another one that overlaps it and reaches beyond."""
    spare = 2 * SHIFTED * SIZES[one.type] + widest if _partners(one, buffers) else 0
    return max(1, -(-(widest + spare + one.align) // mmap.PAGESIZE)) * mmap.PAGESIZE


def _partners(one: Argument, buffers: Sequence[Argument]) -> list[Argument]:
    """Returns the buffers that may overlap one: those of its kind that it names, or that name it."""
    return [
        other
        for other in buffers
        if other is not one
        and (other.name in one.may_alias or one.name in other.may_alias)
        and (other.type, other.low, other.high) == (one.type, one.low, one.high)
    ]


@dataclass
class _Table:
    signature: Signature
    convention: Convention
    where: tuple[ArgumentLocation, ...]
    buffers: Sequence[Argument]
    rooms: Sequence[Room]
    rng: random.Random

    def lay(self, case: Case) -> Laid:
        """Puts buffers into their rooms, and words into registers."""
        fill = self.rng.randrange(256)
        at = {one.name: self._spot(number, one, case) for number, one in enumerate(self.buffers)}
        overlap = self._overlap(case, at)
        images = tuple(self._image(number, case, at, fill, overlap) for number in range(len(self.rooms)))
        nonce = self.rng.getrandbits(64)
        lengths = tuple(len(one.data) for one, room in zip(images, self.rooms, strict=True) if room.writable)
        return Laid(case, at, images, self._given(case, at, nonce, fill, False), nonce, lengths, overlap)

    def again(self, laid: Laid, number: int) -> Laid:
        """Lays a case in the same way, to be taken step by step."""
        nonce = self.rng.getrandbits(64)
        given = self._given(laid.case, laid.spots, nonce, laid.fill, True)
        return replace(laid, given=given, nonce=nonce, twin=number)

    def _spot(self, number: int, one: Argument, case: Case) -> Spot:
        if not case.at_end:
            return Spot(number, 0)
        align = max(one.align, SIZES[one.type])
        return Spot(number, (self.rooms[number].bytes - case.lengths[one.name]) // align * align)

    def _overlap(self, case: Case, at: dict[str, Spot]) -> tuple[str, str, int] | None:
        """Moves a buffer into another one's room: as a case has it, or now and then where the contract lets it."""
        found = case.overlap or self._shifted(case)
        if found is None:
            return None
        guest, host = (next(one for one in self.buffers if one.name == name) for name in found[:2])
        shift = found[2]
        # Both stay within the room: it is the host that makes way at the room's ends.
        step = max(host.align, guest.align, SIZES[guest.type])
        behind = shift + case.lengths[guest.name] - case.lengths[host.name] if case.at_end else 0
        offset = at[host.name].offset - -(-max(0, behind) // step) * step
        offset += -(-max(0, -shift - offset) // step) * step
        room = at[host.name].room
        end = offset + max(shift + case.lengths[guest.name], case.lengths[host.name])
        if offset < 0 or end > self.rooms[room].bytes:
            return None
        at[host.name], at[guest.name] = Spot(room, offset), Spot(room, offset + shift)
        return found

    def _shifted(self, case: Case) -> tuple[str, str, int] | None:
        pairs = [
            (one, other)
            for one in self.buffers
            for other in _partners(one, self.buffers)
            if one.role is not Role.OUT and (other.role is not Role.IN or one.role is Role.IN)
            if case.free or other.role is Role.OUT
        ]
        if not pairs or self.rng.random() > OVERLAPPING:
            return None
        guest, host = self.rng.choice(pairs)
        size = SIZES[guest.type]
        elements = max(1, case.lengths[host.name] // size)
        shift = self.rng.choice((0, 0, 1, self.rng.randint(1, min(elements, SHIFTED)))) * size
        shift -= shift % max(guest.align, 1)
        return guest.name, host.name, shift if self.rng.random() < 0.5 else -shift

    def _image(
        self, number: int, case: Case, at: Mapping[str, Spot], fill: int, overlap: tuple[str, str, int] | None
    ) -> Image:
        one = self.buffers[number]
        held = [other for other in self.buffers if at[other.name].room == number]
        if not overlap or overlap[1] != one.name:
            if not held:
                return Image(0, b"")
            unwritten = bytes([fill]) * case.lengths[one.name]
            return Image(at[one.name].offset, case.contents.get(one.name, unwritten))
        start = min(at[other.name].offset for other in held)
        end = max(at[other.name].offset + case.lengths[other.name] for other in held)
        data = bytearray([fill]) * (end - start)
        for other in sorted(held, key=lambda other: other is one):  # the host's own content counts
            if (content := case.contents.get(other.name)) is not None:
                place = at[other.name].offset - start
                data[place : place + len(content)] = content
        return Image(start, bytes(data))

    def _given(self, case: Case, at: Mapping[str, Spot], nonce: int, fill: int, step: bool) -> bytes:
        given = bytearray(self.rng.randbytes(GIVEN.size))
        given[AT_ROOMS : AT_ROOMS + INTS + STACKED] = bytes(INTS + STACKED)
        stacked = sum(location.kind == "stack" for location in self.where)
        struct.pack_into("<4Q", given, 0, nonce, step, fill, stacked)
        for one, location in zip(self.signature.arguments, self.where, strict=True):
            start = {"int": AT_INTS, "float": AT_FLOATS, "stack": AT_STACK}[location.kind] + 8 * location.index
            if one.buffer:
                struct.pack_into("<Q", given, start, at[one.name].offset)
                given[AT_ROOMS + location.index + (INTS if location.kind == "stack" else 0)] = at[one.name].room + 1
            else:
                (garbage,) = struct.unpack_from("<Q", given, start)
                struct.pack_into("<Q", given, start, self._word(one, case.numbers[one.name], location, garbage))
        return bytes(given)

    def _word(self, one: Argument, value: float, location: ArgumentLocation, garbage: int) -> int:
        if not one.type.startswith("float"):
            return extended(int(value), one.type, self.convention, garbage)
        if one.type == "float64":
            (word,) = struct.unpack("<Q", struct.pack("<d", value))
        else:
            (low,) = struct.unpack("<I", struct.pack("<f", value))
            # RISC-V has a narrow float in a register that is no number otherwise.
            boxed = self.convention.spills and location.kind == "float"
            word = low | ((1 << 64) - (1 << 32) if boxed else garbage >> 32 << 32)
        return int(word)
