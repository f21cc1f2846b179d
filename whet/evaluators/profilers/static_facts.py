"""What is known of a GPU kernel without running it, and the same in short lines for the Judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from whet.evaluators.profilers.occupancy import BLOCK_SIZES, LIMITS, occupancy
from whet.evaluators.profilers.ptxas import Resources
from whet.evaluators.profilers.sass import Mix


@dataclass(frozen=True, slots=True)
class KernelFacts:
    """One kernel.

    Attributes:
        resources: what it takes of a multiprocessor.
        source: which tool told that: ``ptxas`` or ``cuobjdump``.
        shared: bytes of shared memory of a block: what it declares, and what it is launched with where that is known.
        threads: of a block, where known.
        mix: of its instructions, where a disassembler is there.
    """

    resources: Resources
    source: str
    shared: int
    threads: int | None = None
    mix: Mix | None = None

    def occupancies(self) -> Mapping[int, float]:
        """Returns theoretical occupancies, 0 to 1, by threads of a block; none of an unknown architecture."""
        arch = self.resources.arch
        if arch.rstrip("af") not in LIMITS:
            return {}
        sizes = (self.threads,) if self.threads is not None else BLOCK_SIZES
        return {size: occupancy(arch, size, self.resources.registers, self.shared).share for size in sizes}


def facts(
    told: Sequence[Resources],
    source: str,
    mixes: Sequence[Mix],
    launched: Mapping[str, tuple[int, int]],
) -> tuple[KernelFacts, ...]:
    """Puts together what the tools told of the same kernels.

    Args:
        told: registers and the like.
        source: which tool told them.
        mixes: of instructions.
        launched: kernel -> (threads of a block, bytes of shared memory), where known.
    """
    by_name = {mix.kernel: mix for mix in mixes}
    found = []
    for one in told:
        threads, shared = launched.get(one.kernel, (None, one.shared))
        found.append(KernelFacts(one, source, shared, threads, by_name.get(one.kernel)))
    return tuple(found)


def lines(kernels: Sequence[KernelFacts]) -> tuple[str, ...]:
    """Returns short lines, one or two a kernel, that say which tool they come from."""
    return tuple(line for kernel in kernels for line in _lines(kernel))


def _lines(kernel: KernelFacts) -> list[str]:
    told = kernel.resources
    spilled = told.spill_stores + told.spill_loads
    parts = [f"{told.registers} registers", f"{kernel.shared} B shared memory"]
    if spilled:
        parts.append(f"spills {told.spill_stores} B out and {told.spill_loads} B in")
    if told.stack:
        parts.append(f"{told.stack} B stack")
    found = [f"{told.kernel} ({told.arch}): {', '.join(parts)} [{kernel.source}]"]
    if occupied := kernel.occupancies():
        shown = ", ".join(f"{share:.0%} at {size} threads" for size, share in occupied.items())
        found.append(f"  theoretical occupancy {shown} [calculated]")
    if kernel.mix is not None:
        found.append(f"  {_mix(kernel.mix)} [SASS, counted as they stand]")
    return found


def _mix(mix: Mix) -> str:
    moved = [f"{count} loads {kind} bit" for kind, count in mix.loads.items()]
    moved += [f"{count} stores {kind} bit" for kind, count in mix.stores.items()]
    named = {
        "fused multiply-adds": mix.fma,
        "tensor-core instructions": mix.tensor,
        "asynchronous copies": mix.async_copies,
        "special functions": mix.special,
        "atomics": mix.atomics,
        "branches": mix.branches,
        "barriers": mix.barriers,
    }
    return ", ".join([f"{mix.total} instructions", *moved, *(f"{n} {name}" for name, n in named.items() if n)])
