"""What bounds a kernel: its distance from the roofline, and one of five classes by what was counted of it.

The roofline is that of Williams, Waterman and Patterson ("Roofline", 2009): a kernel takes at least as long as its
arithmetic at the device's peak and at least as long as its bytes at the memory's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from whet.agents.hardware import GpuCard, Number
from whet.core.circumstances import ModuleCost

REACHED = 0.95
"""Share of the attainable from which nothing is left to gain: the rest is what launches and clocks take."""
MOST = 1.05
"""Share beyond which more was counted than the call needs: of a table it may read a few rows, or a cache held it."""
FULL = 0.6
"""Share of its peak from which a unit is what a kernel waits for. Nsight Compute's own guidance draws the line there:
with both memory and arithmetic below it, a kernel waits for neither."""
BUSY = 0.5
"""Share of a call in which a kernel runs; below it, more is to gain beside the kernels than in them."""
LAUNCH_SECONDS = 20e-6
"""Of a call for each launch: a launch costs the host some 2 to 10 microseconds, and torch about as much again."""
OCCUPIED = 0.25
"""Occupancy below which a multiprocessor has too few warps to hide its waits: a quarter of 64 are four a scheduler."""
NUMBERS: Mapping[str, Number] = {
    "float64": "fp64", "float32": "fp32", "bfloat16": "bf16", "float16": "fp16", "int8": "int8",
    "float8_e4m3fn": "fp8", "float8_e5m2": "fp8",
}  # fmt: skip
"""Peaks by torch's types. Float32 counts without TF32: the oracle's rule on floats does not let that pass."""

DRAM = "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"
L1_HITS, L2_HITS = "l1tex__t_sector_hit_rate.pct", "lts__t_sector_hit_rate.pct"
L1, L2 = "l1tex__throughput.avg.pct_of_peak_sustained_active", "lts__throughput.avg.pct_of_peak_sustained_active"
FP32 = "sm__inst_executed_pipe_fp32.avg.pct_of_peak_sustained_active"
TENSOR = "sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_active"
WARPS = "sm__warps_active.avg.pct_of_peak_sustained_active"
STALLED = "smsp__warp_issue_stalled_{}_per_warp_active.pct"
UNIFORM = "smsp__sass_average_branch_targets_threads_uniform.pct"
REGISTERS = "launch__registers_per_thread"


class Class(StrEnum):
    """What a kernel waits for."""

    MEMORY = "memory"
    COMPUTE = "compute"
    LATENCY = "latency"
    LAUNCH = "launch"
    HOST = "host-bound"


METRICS: Mapping[Class, tuple[str, ...]] = {
    Class.MEMORY: (DRAM, L2_HITS, L1_HITS, STALLED.format("long_scoreboard")),
    Class.COMPUTE: (FP32, TENSOR, REGISTERS, UNIFORM),
    Class.LATENCY: (WARPS, STALLED.format("long_scoreboard"), STALLED.format("barrier"),
                    STALLED.format("short_scoreboard")),
    Class.LAUNCH: (),
    Class.HOST: (),
}  # fmt: skip
"""Counters that tell most of each class; the names are those of Nsight Compute."""


@dataclass(frozen=True, slots=True)
class Roofline:
    """How far a call is from what a device can do.

    Attributes:
        bound: ``memory`` or ``compute``: what takes longer at the device's peaks.
        intensity: operations a byte.
        least: seconds that the device needs at its peaks.
        seconds: that the call takes.
    """

    bound: Class
    intensity: float
    least: float
    seconds: float

    @property
    def share(self) -> float:
        """Of the attainable that is reached; above 1 where less had to be moved than was counted."""
        return self.least / self.seconds

    @property
    def left(self) -> float:
        """The speedup that is still possible."""
        return self.seconds / self.least


@dataclass(frozen=True, slots=True)
class Trace:
    """What is known of the kernels of one call; None and nothing where it is not.

    Attributes:
        launches: of kernels.
        busy: share of the call in which one runs.
        occupancy: 0 to 1, measured or calculated.
        spills: bytes that a thread stores and loads for want of registers.
        counters: of the longest kernel, by the names of Nsight Compute.
    """

    launches: int | None = None
    busy: float | None = None
    occupancy: float | None = None
    spills: int = 0
    counters: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Bottleneck:
    """What a kernel waits for, why that is said, and the figures to look at."""

    kind: Class
    because: str
    metrics: tuple[tuple[str, float], ...] = ()


def roofline(flops: float, moved: float, seconds: float, card: GpuCard, number: Number = "fp32") -> Roofline | None:
    """Returns how far a call is from what a device can do; None where the device's peak or the cost is unknown.

    Args:
        flops: operations of the call.
        moved: bytes that it has to move to and from memory.
        seconds: that it takes.
        card: the device's.
        number: type of its operands.
    """
    peak = card.peaks.get(number)
    if peak is None or seconds <= 0 or moved <= 0:
        return None
    arithmetic, memory = flops / peak, moved / card.bandwidth
    bound = Class.COMPUTE if arithmetic > memory else Class.MEMORY
    return Roofline(bound, flops / moved, max(arithmetic, memory), seconds)


def roofline_of(cost: ModuleCost, seconds: float, card: GpuCard | None) -> Roofline | None:
    """Returns `roofline` of a counted call.

    None without a card, where the numbers are of a type that it lacks, and where the call is faster than it allows:
    then what was counted is not what the call needs.
    """
    number = NUMBERS.get(cost.number)
    if card is None or number is None:
        return None
    found = roofline(cost.flops, cost.moved, seconds, card, number)
    return found if found is not None and found.share <= MOST else None


def reached(found: Roofline | None) -> bool:
    """Whether a call is so near its roofline that a run may stop; never where that is unknown."""
    return found is not None and found.share >= REACHED


def classify(seconds: float, found: Roofline | None, trace: Trace) -> Bottleneck | None:
    """Returns what a call waits for; None where too little is known to say.

    Asked in this order: whether kernels run at all most of the time; what the counters say; without counters how near
    the roofline is; else what would keep a multiprocessor from hiding its waits.

    Args:
        seconds: of the call.
        found: its roofline.
        trace: what is known of its kernels.
    """
    if trace.busy is not None and trace.busy < BUSY:
        return _outside(seconds, trace.busy, trace.launches)
    kind, because = _counted(trace.counters) or _by_roofline(found) or _static(trace) or (None, "")
    if kind is None:
        return None
    counters = tuple((name, trace.counters[name]) for name in METRICS[kind] if name in trace.counters)
    return Bottleneck(kind, because, counters)


def _outside(seconds: float, busy: float, launches: int | None) -> Bottleneck:
    metrics: tuple[tuple[str, float], ...] = (("share of the call in which a kernel runs", busy),)
    why = f"a kernel runs in {busy:.0%} of the call"
    if not launches:
        return Bottleneck(Class.HOST, why, metrics)
    metrics = (*metrics, ("launches a call", float(launches)), ("microseconds a launch", seconds / launches * 1e6))
    kind = Class.LAUNCH if seconds / launches <= LAUNCH_SECONDS else Class.HOST
    return Bottleneck(kind, f"{why}, {launches} launches in {seconds * 1e6:.3g} us", metrics)


def _counted(counters: Mapping[str, float]) -> tuple[Class, str] | None:
    memory = {name: counters[name] for name in (DRAM, L2, L1) if name in counters}
    arithmetic = {name: counters[name] for name in (FP32, TENSOR) if name in counters}
    if not memory or not arithmetic:
        return None
    tight, busiest = max(memory, key=memory.__getitem__), max(arithmetic, key=arithmetic.__getitem__)
    told = f"{tight} {memory[tight]:.0f} %, {busiest} {arithmetic[busiest]:.0f} %"
    if max(memory[tight], arithmetic[busiest]) < FULL * 100:
        return Class.LATENCY, f"neither memory nor arithmetic is busy: {told}"
    return (Class.MEMORY if memory[tight] >= arithmetic[busiest] else Class.COMPUTE), told


def _by_roofline(found: Roofline | None) -> tuple[Class, str] | None:
    if found is None or found.share < FULL:
        return None
    return found.bound, f"{found.share:.0%} of what its {found.bound} roofline allows"


def _static(trace: Trace) -> tuple[Class, str] | None:
    if trace.spills:
        return Class.MEMORY, f"a thread spills {trace.spills} bytes of registers to memory"
    if trace.occupancy is not None and trace.occupancy < OCCUPIED:
        return Class.LATENCY, f"occupancy {trace.occupancy:.0%}: too few warps to hide the waits"
    return None
