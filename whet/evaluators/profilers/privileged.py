"""Hardware events, counted by perf within a sandbox that is loosened for that. Only ever for the user's own code."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from whet.core.counter import Counter, missing
from whet.evaluators.artifacts import Builder
from whet.evaluators.finding import Fault
from whet.evaluators.inputs.source import Input
from whet.evaluators.profilers.inside import report
from whet.sandbox.counters import perf
from whet.sandbox.protocol import Incident

EVENTS = perf.HARDWARE + perf.SOFTWARE
PARANOID = Path("/proc/sys/kernel/perf_event_paranoid")
MOST_FOR_USERS = 2
"""The highest setting at which the kernel lets a user count the events of its own processes."""


def loosened(facts: Mapping[str, Any]) -> str:
    """Returns what a sandbox allows a profiling job beyond others; empty where it denies nothing anyway."""
    if not facts.get("seccomp"):
        return ""
    if facts.get("perfmon"):
        return "perf_event_open and CAP_PERFMON are allowed: the counted run can watch every process of this machine"
    return "perf_event_open is allowed: the counted run can count events of its own processes"


def refusal(facts: Mapping[str, Any], setting: Path = PARANOID) -> str:
    """Returns why the kernel would count nothing in a profiling job; empty where nothing speaks against it."""
    try:
        level = int(setting.read_text())
    except (OSError, ValueError):
        return f"{setting} cannot be read: this kernel counts no events"
    if level > MOST_FOR_USERS and not facts.get("perfmon"):
        return f"kernel.perf_event_paranoid is {level}: set it to {MOST_FOR_USERS}, or use docker 23 or later"
    return ""


def counters(builder: Builder, source: str, item: Input) -> tuple[Counter, ...]:
    """Returns what the kernel and the processor count in one run of a program."""
    reason = refusal(builder.sandbox.facts)
    artifact = builder.build(source)
    if reason or isinstance(artifact, Fault):
        return _without(reason or "it does not build")
    command = shlex.join(builder.argv("{tree}"))
    script = f'exec /usr/bin/perf stat -j -e {",".join(EVENTS)} -o "{{report}}" -- {command}'
    try:
        text = report(builder, artifact, ["/bin/sh", "-c", script], item, profiling=True)
    except Incident as incident:
        return _without(f"perf did not come through: {incident}")
    found = {counter.name: counter for counter in perf.parse(text)}
    return tuple(found.get(event) or _without("perf did not report it", event)[0] for event in EVENTS)


def _without(reason: str, *events: str) -> tuple[Counter, ...]:
    return tuple(missing(event, perf.UNITS.get(event, ""), perf.SOURCE, reason) for event in events or EVENTS)
