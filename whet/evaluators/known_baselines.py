"""What earlier runs on this machine found of a baseline, so that not each run has to find it anew.

What is kept belongs to all that it follows from: target, inputs, interpreter, packages, compiler, sandbox, machine and
whet itself. What took too long because the machine was busy does no harm: what is timed is timed again, and the other
figures only choose how many inputs are tried. Correctness never rests on it: each candidate is compared with the
baseline itself. Failures are not kept.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, TypeVar

from whet.core.audit import NullOutcome
from whet.core.errors import BaselineError
from whet.core.plain import from_plain, to_plain
from whet.core.store import Store
from whet.core.task import Task
from whet.evaluators.artifacts import Artifact, Builder
from whet.evaluators.baseline import Baseline, retimed
from whet.evaluators.costs import Costs
from whet.evaluators.evidence.provenance import machine, sandbox_facts, toolchain, tools
from whet.evaluators.inputs.calibration import CallSeconds, calibrated
from whet.evaluators.inputs.source import InputSource
from whet.evaluators.meters.base import Meter

VALIDATED, CALIBRATED = "validated", "calibrated"
T = TypeVar("T")

PLACES = ("name", "path", "root", "project")
"""Where a task's files are: what is found of them does not follow from it."""


@dataclass(frozen=True, slots=True)
class KeptBaseline:
    """What is kept of a `Baseline`, by the names that it has there."""

    seconds: Mapping[str, float]
    sizes: Mapping[str, int]
    limit: float
    costs: Costs
    nulls: tuple[NullOutcome, ...]
    strengthened: str
    suspicions: tuple[str, ...]
    validated: str


@dataclass(frozen=True, slots=True)
class Sizes:
    """What was found for a workload that names no sizes; see `whet.core.task.Workload`."""

    generator: str | None
    sizes: tuple[int, ...]
    origin: str


def keepable(task: Task) -> bool:
    """Whether what is found of a baseline may be used again: not where it depends on a GPU and its driver."""
    return task.module is None and task.launch is None


class KnownBaselines:
    """What a store holds of the baseline of one task. Whatever cannot be read is as if it were not there.

    Args:
        store: where it is kept.
        builder: of the task.
    """

    def __init__(self, store: Store, builder: Builder) -> None:
        self._store = store
        self._builder = builder

    def recalled(self, artifact: Artifact, source: InputSource, meter: Meter, seed: int) -> Baseline | None:
        """Returns the baseline as an earlier run validated it; None where none did, or where it fails now.

        Args:
            artifact: the baseline, built.
            source: draws the inputs.
            meter: what it will be measured by.
            seed: of the inputs that it is timed on.
        """
        facts = self._read(VALIDATED, KeptBaseline)
        if facts is None or not {f"size {size}" for size in source.sizes} <= facts.seconds.keys():
            return None
        known = Baseline(artifact, meter=meter, **{name: getattr(facts, name) for name in KeptBaseline.__slots__})
        try:
            return retimed(self._builder.task, known, source, seed)
        except BaselineError:
            return None

    def keep(self, baseline: Baseline) -> None:
        """Keeps what was found of a baseline for later runs, unless no verdict could rest on it."""
        if any(null.accepted for null in baseline.nulls):
            return
        found = {name: getattr(baseline, name) for name in KeptBaseline.__slots__}
        now = datetime.now(UTC).isoformat(timespec="seconds")
        self._write(VALIDATED, KeptBaseline(**{**found, "validated": now}))

    def sized(self, seed: int, timed: bool, call_seconds: CallSeconds) -> Task:
        """Returns the task with sizes; see `whet.evaluators.inputs.calibration.calibrated`."""
        task = self._builder.task
        what = f"{CALIBRATED} {timed}"
        if task.workload.sizes:
            return task
        if (known := self._read(what, Sizes)) is not None:
            found = {name: getattr(known, name) for name in Sizes.__slots__}
            return replace(task, workload=replace(task.workload, **found))
        sized = calibrated(self._builder, seed, timed, call_seconds)
        if sized.workload != task.workload:
            self._write(what, Sizes(sized.workload.generator, sized.workload.sizes, sized.workload.origin))
        return sized

    def _read(self, what: str, cls: type[T]) -> T | None:
        try:
            known = self._store.baseline(self._key(what))
            return None if known is None else from_plain(cls, known)
        except (ValueError, zlib.error):
            return None

    def _write(self, what: str, value: KeptBaseline | Sizes) -> None:
        self._store.keep_baseline(self._key(what), to_plain(value))

    def _key(self, what: str) -> str:
        """Returns the SHA-256 of all that a finding follows from."""
        return hashlib.sha256(f"{what}\0{self._follows}".encode()).hexdigest()

    @cached_property
    def _follows(self) -> str:
        builder, task = self._builder, self._builder.task
        follows: dict[str, Any] = {
            "whet": {name: tools()[name] for name in ("whet", "harness")},
            "machine": to_plain(machine()),
            "toolchain": to_plain(toolchain(task, builder.interpreter)),
            "sandbox": sandbox_facts(builder.sandbox.facts),
            "filename": task.filename,
            "task": {name: value for name, value in to_plain(task).items() if name not in PLACES},
        }
        return json.dumps(follows, sort_keys=True)
