"""Where rewrites will run, and on what: what their author should know before writing one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ModuleCost:
    """What one call of a torch module computes and moves, as counted where the original ran.

    Attributes:
        flops: floating-point operations of its products, convolutions and attention; others are not counted.
        moved: bytes of inputs, weights and results, each once: no way of computing moves less to and from memory,
            unless it needs no part of them.
        written: bytes that the original's operations write one by one, what lies between them included.
        operations: how many they are.
        number: the type of most of the inputs' bytes, as torch names it.
        device: the GPU's name as torch reports it; empty on the CPU.
    """

    flops: int
    moved: int
    written: int
    operations: int
    number: str
    device: str = ""

    @property
    def intensity(self) -> float:
        """Counted operations a byte that has to be moved."""
        return self.flops / self.moved if self.moved else 0.0


@dataclass(frozen=True, slots=True)
class TimedInput:
    """A workload that counts.

    Attributes:
        name: such as ``size 1000``, or that of a recorded case.
        bytes: of one input, as it is handed over.
        seconds: that the baseline takes for one.
        cost: of a call of a torch module; None where it was not counted.
    """

    name: str
    bytes: int
    seconds: float
    cost: ModuleCost | None = None


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What is found of a run's surroundings once, before its first prompt.

    Attributes:
        processor: its model.
        caches: bytes of each cache of one core, by name, such as ``L2``; empty where the system does not tell.
        interpreter: implementation and version of the python3 that candidates run on.
        packages: versions of the packages that the target imports.
        compiler: the first line of its version; None for Python.
        timed: what counts.
        vectors: the processor's instruction sets for vectors, as the system names them.
    """

    processor: str
    caches: Mapping[str, int]
    interpreter: str
    packages: Mapping[str, str]
    compiler: str | None
    timed: tuple[TimedInput, ...]
    vectors: tuple[str, ...] = ()
