"""Where and of what a campaign is measured: date, machine and commit."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import whet
from whet.evaluators.evidence import provenance
from whet.sandbox.counters.registry import survey

GIT_SECONDS = 20.0
"""Seconds that one git command may take. After a smaller limit a campaign can fail on a busy machine; a larger one only
delays the error where git hangs."""
PACKAGE = Path(whet.__file__).parent


@dataclass(frozen=True, slots=True)
class CampaignProvenance:
    """Date, machine and commit.

    Attributes:
        date: UTC, ISO 8601.
        commit: of the checkout that whet runs from; the version, where it runs from none.
        dirty: whether files of the package differ from that commit.
        sources: SHA-256 of whet's own modules.
        cpu: the processor's model.
        architecture: such as ``x86_64``.
        cores: processors that whet could use.
        memory: bytes.
        kernel: the kernel's release.
        system: the operating system.
        hardware_counters: whether the processor shows its counters (a PMU).
        cgroup_v2: whether the second version of control groups is mounted.
    """

    date: str
    commit: str
    dirty: bool
    sources: str
    cpu: str
    architecture: str
    cores: int
    memory: int
    kernel: str
    system: str
    hardware_counters: bool
    cgroup_v2: bool

    @property
    def lasting(self) -> CampaignProvenance:
        """All of it but the date."""
        return replace(self, date="")

    def __str__(self) -> str:
        dirty = " (dirty)" if self.dirty else ""
        counters = "with" if self.hardware_counters else "without"
        groups = "with" if self.cgroup_v2 else "without"
        return (
            f"{self.date[:10]}; {self.cpu}, {self.cores} cores, {self.memory / 2**30:.0f} GiB, {self.system}, "
            f"Linux {self.kernel}, {counters} hardware counters, {groups} cgroup v2; commit {self.commit[:12]}{dirty}"
        )


def this_place() -> CampaignProvenance:
    """Describes this machine and this checkout, now."""
    machine, (commit, dirty) = provenance.machine(), _commit()
    return CampaignProvenance(
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        commit=commit,
        dirty=dirty,
        sources=provenance.tools()["harness"],
        cpu=machine.cpu,
        architecture=machine.architecture,
        cores=machine.cores,
        memory=machine.memory,
        kernel=machine.kernel,
        system=machine.system,
        hardware_counters=any(one.name == "instructions" and one.available for one in survey().get("perf", ())),
        cgroup_v2=any(line.split()[2] == "cgroup2" for line in Path("/proc/self/mounts").read_text().splitlines()),
    )


def _commit() -> tuple[str, bool]:
    """Returns the commit, and whether the package differs from it; documentation may: results go there."""
    if shutil.which("git") is None or not (PACKAGE.parent / ".git").exists():
        return f"whet {whet.__version__}", False
    changed = _git("status", "--porcelain", "--", str(PACKAGE))
    return _git("rev-parse", "HEAD").strip(), bool(changed.strip())


def _git(*arguments: str) -> str:
    command = ["git", "-C", str(PACKAGE.parent), "-c", f"safe.directory={PACKAGE.parent}", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=GIT_SECONDS).stdout
