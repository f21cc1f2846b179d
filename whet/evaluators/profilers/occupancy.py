"""Theoretical occupancy of a kernel, by calculation: how many of a multiprocessor's warps can be there at once.

The limits are those of the table "Technical Specifications per Compute Capability" in NVIDIA's CUDA C++ Programming
Guide; how registers and shared memory are handed out is the rule of ``cuda_occupancy.h``, which comes with CUDA.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

KIB = 1024
WARP = 32
REGISTERS = 64 * KIB
"""Of a multiprocessor, and of a block at most, from compute capability 7.0 on."""
REGISTERS_OF_A_THREAD = 255
"""Registers that a thread can have at most, by the hardware; a kernel with more has an occupancy of 0."""
REGISTER_UNIT = 256
"""Registers are handed to a warp in as many."""
PARTITIONS = 4
"""Of a multiprocessor; a warp's registers lie in one of them."""
THREADS_OF_A_BLOCK = 1024
"""Threads that a block can have at most, by the hardware; a larger one has an occupancy of 0."""
BLOCK_SIZES = (128, 256, 512, 1024)
"""Threads a block that are shown where a kernel's own are not known."""


@dataclass(frozen=True, slots=True)
class Multiprocessor:
    """The limits of a multiprocessor.

    Attributes:
        warps: that it holds.
        blocks: that it holds.
        shared: bytes of shared memory.
        shared_block: bytes of it that a block may have, on request.
        shared_unit: shared memory is handed out in as many bytes.
        reserved: bytes of it that the system takes of each block.
    """

    warps: int
    blocks: int
    shared: int
    shared_block: int
    shared_unit: int = 128
    reserved: int = KIB


LIMITS: Mapping[str, Multiprocessor] = MappingProxyType(
    {
        "sm_75": Multiprocessor(32, 16, 64 * KIB, 64 * KIB, 256, 0),
        "sm_80": Multiprocessor(64, 32, 164 * KIB, 163 * KIB),
        "sm_86": Multiprocessor(48, 16, 100 * KIB, 99 * KIB),
        "sm_87": Multiprocessor(48, 16, 164 * KIB, 163 * KIB),
        "sm_89": Multiprocessor(48, 24, 100 * KIB, 99 * KIB),
        "sm_90": Multiprocessor(64, 32, 228 * KIB, 227 * KIB),
        "sm_100": Multiprocessor(64, 32, 228 * KIB, 227 * KIB),
        "sm_120": Multiprocessor(48, 24, 100 * KIB, 99 * KIB),
    }
)


@dataclass(frozen=True, slots=True)
class Occupancy:
    """How full a multiprocessor can be.

    Attributes:
        blocks: that are there at once; 0 where not even one fits.
        warps: of theirs.
        share: of the warps that the multiprocessor holds, 0 to 1.
        limited_by: ``warps``, ``blocks``, ``registers`` or ``shared memory``, those that allow no more.
    """

    blocks: int
    warps: int
    share: float
    limited_by: tuple[str, ...]


def occupancy(arch: str, threads: int, registers: int, shared: int = 0) -> Occupancy:
    """Returns the theoretical occupancy of a kernel.

    Args:
        arch: such as ``sm_90``; the letter of ``sm_90a`` changes no limit.
        threads: of a block.
        registers: of a thread.
        shared: bytes of shared memory of a block, static and dynamic.

    Raises:
        KeyError: the architecture is not in `LIMITS`.
        ValueError: a block has no threads.
    """
    if threads < 1:
        raise ValueError(f"a block of {threads} threads")
    limits = LIMITS[arch.rstrip("af")]
    warps = -(-threads // WARP)
    allowed = {
        "warps": limits.warps // warps if threads <= THREADS_OF_A_BLOCK else 0,
        "blocks": limits.blocks,
        "registers": _by_registers(warps, registers),
        "shared memory": _by_shared(limits, shared),
    }
    blocks = min(value for value in allowed.values() if value is not None)
    tight = tuple(name for name, value in allowed.items() if value == blocks)
    return Occupancy(blocks, blocks * warps, blocks * warps / limits.warps, tight)


def _by_registers(warps: int, registers: int) -> int | None:
    if registers > REGISTERS_OF_A_THREAD:
        return 0
    of_a_warp = _up(registers * WARP, REGISTER_UNIT)
    if of_a_warp == 0:
        return None
    # The hardware's own check takes it that a block fills all partitions alike.
    if of_a_warp * _up(warps, PARTITIONS) > REGISTERS:
        return 0
    return REGISTERS // PARTITIONS // of_a_warp * PARTITIONS // warps


def _by_shared(limits: Multiprocessor, shared: int) -> int | None:
    taken = _up(shared + limits.reserved, limits.shared_unit)
    if taken == 0:
        return None
    return limits.shared // taken if taken <= limits.shared_block + limits.reserved else 0


def _up(value: int, unit: int) -> int:
    return -(-value // unit) * unit
