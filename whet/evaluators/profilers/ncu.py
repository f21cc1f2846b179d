"""Reads what Nsight Compute measured: its raw page as CSV, or an ``.ncu-rep`` file.

The CSV is that of ``ncu --import FILE --csv --page raw``: lines of ncu itself (``==PROF==``), a row of headers, a row
of units, and a row a launch. Columns are found by their headers, as their number differs from version to version.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from whet.core.errors import UsageError

DENIED = "ERR_NVGPUCTRPERM"
"""What the driver says where a user may not read the counters."""
MEND = (
    "counters are not permitted here (ERR_NVGPUCTRPERM): give the profiling container CAP_PERFMON (CAP_SYS_ADMIN "
    "before driver 565), or load the driver with NVreg_RestrictProfilingToAdminUsers=0"
)
KERNEL, LAUNCH, GRID, BLOCK = "Kernel Name", "ID", "Grid Size", "Block Size"
STALLED = "smsp__warp_issue_stalled_{}_per_warp_active.pct"
METRICS = (
    "sm__cycles_active.avg",
    "sm__warps_active.avg.pct_of_peak_sustained_active",
    "launch__occupancy_limit_blocks",
    "launch__occupancy_limit_registers",
    "launch__occupancy_limit_shared_mem",
    "launch__registers_per_thread",
    "sm__inst_executed.sum",
    "sm__inst_executed_pipe_fp32.avg.pct_of_peak_sustained_active",
    "sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_active",
    "dram__bytes_read.sum",
    "dram__bytes_write.sum",
    "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "dram__bytes.sum.per_second",
    "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
    "l1tex__t_sector_hit_rate.pct",
    "l1tex__throughput.avg.pct_of_peak_sustained_active",
    "lts__t_sector_hit_rate.pct",
    "lts__throughput.avg.pct_of_peak_sustained_active",
    STALLED.format("memory_dependency"),
    STALLED.format("short_scoreboard"),
    STALLED.format("long_scoreboard"),
    STALLED.format("barrier"),
    STALLED.format("branch_resolving"),
    "smsp__sass_average_branch_targets_threads_uniform.pct",
)
"""What the Judge picks from (Zhang et al., "CudaForge", 2025, list 24 of them that follow the time of kernels)."""


@dataclass(frozen=True, slots=True)
class Metric:
    """A figure with its unit, as ncu writes that: ``%``, ``Mbyte``, ``cycle``; empty where it has none."""

    value: float
    unit: str


@dataclass(frozen=True, slots=True)
class Launch:
    """One launch of a kernel.

    Attributes:
        id: its number in the report.
        kernel: its name.
        grid: blocks, as ncu writes them.
        block: threads of a block, in the same way.
        metrics: those of `METRICS` that the report has.
    """

    id: int
    kernel: str
    grid: str = ""
    block: str = ""
    metrics: Mapping[str, Metric] = field(default_factory=dict)


def denied(said: str) -> str:
    """Returns why ncu got no counters, with the mend; empty where that was not the matter."""
    return MEND if DENIED in said else ""


def read_csv(text: str, wanted: tuple[str, ...] = METRICS) -> tuple[Launch, ...]:
    """Reads the raw page of a report.

    Args:
        text: what ncu printed.
        wanted: metrics to keep.

    Raises:
        UsageError: counters were not permitted, or this is no raw page.
    """
    if why := denied(text):
        raise UsageError(why)
    rows = [row for row in csv.reader(io.StringIO(text)) if row and not row[0].startswith("==")]
    start = next((at for at, row in enumerate(rows) if LAUNCH in row and KERNEL in row), None)
    if start is None or len(rows) < start + 2:
        raise UsageError("no raw page of Nsight Compute; print one with: ncu --import FILE --csv --page raw")
    header, units, *launches = rows[start:]
    return tuple(_launch(dict(zip(header, row, strict=False)), dict(zip(header, units, strict=False)), wanted)
                 for row in launches if len(row) == len(header))  # fmt: skip


def _launch(row: Mapping[str, str], units: Mapping[str, str], wanted: tuple[str, ...]) -> Launch:
    metrics = {name: Metric(value, units.get(name, "")) for name in wanted
               if (value := number(row.get(name, ""))) is not None}  # fmt: skip
    launch = number(row[LAUNCH])
    return Launch(int(launch or 0), row[KERNEL], row.get(GRID, ""), row.get(BLOCK, ""), metrics)


def number(text: str) -> float | None:
    """Returns a figure as ncu writes it, with commas between thousands; None for ``n/a`` and the like."""
    try:
        return float(text.strip().replace(",", ""))
    except ValueError:
        return None


def read_report(path: Path, wanted: tuple[str, ...] = METRICS) -> tuple[Launch, ...]:
    """Reads an ``.ncu-rep`` file with NVIDIA's own reader.

    Raises:
        UsageError: the reader is not installed, or the file cannot be read.
    """
    try:
        import ncu_report  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError:
        raise UsageError(f"{path.name} needs NVIDIA's reader; install it with: pip install ncu-report") from None
    try:
        context = ncu_report.load_report(str(path))
    except Exception as error:  # the reader is foreign code, and says little of what it raises
        raise UsageError(f"{path} cannot be read by ncu-report: {error}") from None
    return tuple(_reported(context, wanted))


def _reported(context: object, wanted: tuple[str, ...]) -> Iterator[Launch]:
    number_of_launch = 0
    for part in range(context.num_ranges()):  # type: ignore[attr-defined]
        span = context.range_by_idx(part)  # type: ignore[attr-defined]
        for index in range(span.num_actions()):
            action = span.action_by_idx(index)
            found = {name: action.metric_by_name(name) for name in wanted}
            metrics = {name: Metric(float(one.as_double()), one.unit()) for name, one in found.items() if one}
            yield Launch(number_of_launch, action.name(), metrics=metrics)
            number_of_launch += 1
