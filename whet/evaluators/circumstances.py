"""Finds where candidates run, and on what, for those who write them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

from whet.core.circumstances import Circumstances, ModuleCost, TimedInput
from whet.evaluators.baseline import Baseline, Drawer
from whet.evaluators.evidence.provenance import machine, toolchain
from whet.evaluators.inputs.source import InputSource
from whet.evaluators.processes import FunctionProcess
from whet.sandbox.protocol import Incident

CPUINFO = Path("/proc/cpuinfo")
VECTORS = ("sse4_2", "avx", "avx2", "fma", "avx512f", "avx512_vnni", "avx512_bf16", "amx_tile", "asimd", "sve")
"""Instruction sets that a kernel's author asks for, as Linux names them."""
COST_SECONDS = 60.0
"""That counting a call's operations may take beside what the call itself may."""
CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
COST_SEED = 0
"""No verdict rests on the input that it makes."""
UNITS = {"K": 1 << 10, "M": 1 << 20}


def circumstances(baseline: Baseline, source: InputSource) -> Circumstances:
    """Returns what an author of rewrites should know.

    Args:
        baseline: was timed when it was validated.
        source: tells which inputs count.
    """
    builder = baseline.artifact.builder
    names = baseline.headline(source)
    costs = _costs(baseline, source, names)
    tools = toolchain(builder.task, builder.interpreter)
    return Circumstances(
        processor=machine().cpu,
        caches=caches(CACHES),
        interpreter=tools.interpreter,
        packages=tools.packages,
        compiler=tools.compiler,
        timed=tuple(TimedInput(name, baseline.sizes[name], baseline.seconds[name], costs.get(name)) for name in names),
        vectors=vectors(CPUINFO),
    )


def _costs(baseline: Baseline, source: InputSource, names: Sequence[str]) -> dict[str, ModuleCost]:
    """Returns what calls of a torch module cost, by input; without those that could not be counted."""
    found: dict[str, ModuleCost] = {}
    task = baseline.artifact.builder.task
    process = baseline.artifact.start() if task.module is not None else None
    if not isinstance(process, FunctionProcess):
        return found
    with closing(process):
        for name in names:
            (item,) = Drawer(name, source)(COST_SEED, 1)
            try:
                found[name] = process.cost(item.payload, baseline.limit + COST_SECONDS)
            except (Incident, ValueError, TypeError):  # its figures are for prompts alone: nothing rests on them
                break
    return found


def vectors(cpuinfo: Path) -> tuple[str, ...]:
    """Returns those of `VECTORS` that a file of the form of ``/proc/cpuinfo`` names; none where there is no file."""
    try:
        text = cpuinfo.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ()
    found = re.search(r"^(?:flags|Features)\s*:(.*)$", text, re.MULTILINE)
    named = set(found[1].split()) if found else set()
    return tuple(name for name in VECTORS if name in named)


def caches(folder: Path) -> Mapping[str, int]:
    """Returns the sizes in bytes of the data caches that a folder of sysfs describes, by level."""
    found: dict[str, int] = {}
    for cache in sorted(folder.glob("index*")):
        try:
            level, kind, size = ((cache / name).read_text().strip() for name in ("level", "type", "size"))
        except OSError:
            continue
        if kind != "Instruction" and size[:-1].isdigit() and size[-1] in UNITS:
            found[f"L{level}"] = int(size[:-1]) * UNITS[size[-1]]
    return found
