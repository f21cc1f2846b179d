"""What the agents are told of a kernel task: its device, what a call costs, how near it is to the roofline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from whet.agents.bottlenecks import Bottleneck, Roofline, Trace, classify, reached, roofline_of
from whet.agents.hardware import GpuCard, card_named, cpu_card
from whet.agents.situation import Situation
from whet.core.candidate import Candidate
from whet.core.circumstances import Circumstances
from whet.core.measurement import OF_TIME, Speedup
from whet.core.task import Task
from whet.prompts import one_line, render

UNKNOWN = "{}; its peaks are not in whet's cards"
KERNELS, STATIC = "kernels", "static"
"""What the evidence of a build tells of the kernels in it: as data, and in lines."""


@dataclass(frozen=True, slots=True)
class Speed:
    """One timed input of a version.

    Attributes:
        name: the input's.
        seconds: of a call.
        flops: operations a second.
        bytes: that have to be moved, a second.
        roofline: None where the device's peaks are not known.
        on_cpu: whether it runs on the CPU.
    """

    name: str
    seconds: float
    flops: float
    bytes: float
    roofline: Roofline | None
    on_cpu: bool


def gpu_of(place: Circumstances) -> str:
    """Returns the name of the GPU that calls were counted on; empty where they run on the CPU."""
    return next((each.cost.device for each in place.timed if each.cost is not None), "")


def card_of(place: Circumstances) -> GpuCard | None:
    """Returns the card of the device that candidates run on; None for a CPU and for a GPU without one."""
    return card_named(name) if (name := gpu_of(place)) else None


def device_lines(place: Circumstances, cores: int) -> list[str]:
    """Returns the device's card in a few lines."""
    if card := card_of(place):
        return [*card.lines(), " ".join(card.text.split())]
    if name := gpu_of(place):
        return [UNKNOWN.format(one_line(name))]
    return cpu_card(place, cores).lines()


def costs(place: Circumstances) -> list[dict[str, Any]]:
    """Returns what a call on each timed input costs, as the templates show it."""
    return [
        {
            "name": each.name,
            "flops": each.cost.flops,
            "moved": each.cost.moved,
            "written": each.cost.written,
            "operations": each.cost.operations,
            "intensity": each.cost.intensity,
        }
        for each in place.timed
        if each.cost is not None
    ]


def speeds(place: Circumstances, best: Speedup | None) -> list[Speed]:
    """Returns how fast a version is on each timed input whose cost is known.

    Args:
        place: tells what the original takes.
        best: the version's speedup; None for the original itself.
    """
    ratios = {each.name: each.ratio for each in best.workloads} if best is not None else {}
    card = card_of(place)
    found = []
    for each in place.timed:
        if (cost := each.cost) is None:
            continue
        seconds = each.seconds / ratios.get(each.name, best.ratio if best is not None else 1.0)
        roof = roofline_of(cost, seconds, card)
        rates = cost.flops / seconds, cost.moved / seconds
        found.append(Speed(each.name, seconds, *rates, roof, not cost.device))
    return found


def at_roofline(task: Task, place: Circumstances, best: Speedup | None) -> str:
    """Returns why nothing is left to gain: each timed input is at its roofline; empty where that is not known to be.

    Args:
        task: what is made faster.
        place: where, and what a call costs.
        best: the best version's speedup in time; None where it is the original.
    """
    if task.module is None or (best is not None and best.metric not in OF_TIME):
        return ""
    rows = speeds(place, best)
    if len(rows) < len(place.timed) or not all(reached(row.roofline) for row in rows):
        return ""
    shares = [row.roofline.share for row in rows if row.roofline is not None]
    return f"the best version reaches {min(shares):.0%} of what the device allows" if shares else ""


def trace_of(evidence: Mapping[str, Any]) -> Trace:
    """Returns what the evidence of a build tells of the kernels in it."""
    resources = [kernel["resources"] for kernel in evidence.get(KERNELS, ())]
    return Trace(spills=max((each["spill_stores"] + each["spill_loads"] for each in resources), default=0))


def bottleneck_of(rows: Sequence[Speed], trace: Trace) -> Bottleneck | None:
    """Returns what the dearest input of a version waits for; None where too little is known."""
    slowest = max(rows, key=lambda row: row.seconds, default=None)
    return None if slowest is None else classify(slowest.seconds, slowest.roofline, trace)


def is_first(parent: Candidate) -> bool:
    """Whether a version is the plain problem, which holds no kernel yet."""
    return parent.parent is None


def coder_kernel(facts: Situation) -> str:
    """Returns what the Coder is told beside the rest: how to write a first kernel, or what bounds the best one."""
    if facts.task.module is None:
        return ""
    if is_first(facts.parent):
        on_gpu = facts.task.module.device.startswith("cuda")
        return render("first_kernel", language="triton" if on_gpu else "cpp")
    shown = _shown(facts)
    return render("kernel_coder", device=device_lines(facts.place, facts.cores), directive=facts.directive, **shown)


def judge_kernel(facts: Situation) -> str:
    """Returns what the Judge is told beside the rest."""
    if facts.task.module is None:
        return ""
    return render("kernel_judge", static=facts.built.get(STATIC, ()), **_shown(facts))


def _shown(facts: Situation) -> dict[str, Any]:
    rows = speeds(facts.place, facts.best)
    return {"rows": rows, "bottleneck": bottleneck_of(rows, trace_of(facts.built))}
