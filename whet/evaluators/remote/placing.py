"""Where the steps of a ladder may be taken: all timing of a run on hosts of one class."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from whet.core.errors import UsageError
from whet.core.options import Options
from whet.core.task import Task
from whet.evaluators.languages.registry import language_of_task
from whet.sandbox.workers.base import Host, HostStatus
from whet.sandbox.workers.labels import NONE

CLASS = ("arch", "processor", "gpu", "sandbox", "python")
"""Labels that hosts have in common whose figures may stand side by side."""


def class_of(labels: Mapping[str, str]) -> dict[str, str]:
    """Returns the class of a host with these labels."""
    return {name: labels.get(name, "") for name in CLASS}


def chosen(hosts: Sequence[Host], task: Task, options: Options) -> dict[str, str]:
    """Returns the class of hosts that a run is timed on: of those that suit it, the one with the most slots.

    Raises:
        UsageError: no host suits it.
    """
    ready = [host for host in hosts if host.standing is HostStatus.READY]
    fit = [host for host in ready if _suits(host.labels, options)]
    if not fit:
        raise UsageError(f"no host {' and '.join(_asked(options))} is ready; {described(hosts)}")
    slots: Counter[tuple[str, ...]] = Counter()
    for host in fit:
        slots[tuple(class_of(host.labels).values())] += host.slots
    kernel = (task.module is not None or task.launch is not None) and options.device != "cpu"
    gpu = CLASS.index("gpu")
    best = max(slots, key=lambda values: (kernel and values[gpu] != NONE, slots[values], values))
    return dict(zip(CLASS, best, strict=True))


def anywhere(kind: Mapping[str, str], task: Task) -> dict[str, str]:
    """Returns the labels of the hosts that may take the cheap rungs of a run that is timed on hosts of one class.

    Machine code may use all that its processor has, and a kernel is one thing on a GPU and another without.
    """
    names = {"sandbox"}
    if language_of_task(task).machine_code:
        names |= {"arch", "processor"}
    if task.module is not None or task.launch is not None:
        names.add("gpu")
    return {name: value for name, value in kind.items() if name in names}


def told(labels: Mapping[str, str]) -> str:
    """Returns labels in words."""
    return ", ".join(f"{name} {value}" for name, value in sorted(labels.items()) if value)


def described(hosts: Sequence[Host]) -> str:
    """Returns which hosts there are, with their labels, in words."""
    if not hosts:
        return "there is no host at all"
    return "the hosts are " + "; ".join(
        f"{host.name} ({told(host.labels)}{'' if host.standing is HostStatus.READY else f'; {host.standing}'})"
        for host in hosts
    )


def _asked(options: Options) -> list[str]:
    device = ["with a GPU, which --device cuda asks for,"] if options.device == "cuda" else []
    return [*device, "with a sandbox" if options.sandbox == "auto" else f"that takes --sandbox {options.sandbox}"]


def _suits(labels: Mapping[str, str], options: Options) -> bool:
    if options.device == "cuda" and labels.get("gpu", NONE) == NONE:
        return False
    sandbox = labels.get("sandbox", NONE)  # that auto takes: docker, where an engine answers
    return options.sandbox == "none" or (sandbox == "docker" if options.sandbox == "docker" else sandbox != NONE)
