"""What a host is, by names that work can ask for: `Needs.labels` are some of them."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

from whet.core.errors import UsageError
from whet.sandbox import docker_engine
from whet.sandbox.nvml import Gpu, find_gpu

CPUINFO = Path("/proc/cpuinfo")
NONE = "none"
TRIAL = ("bwrap", "--unshare-user", "--unshare-pid", "--unshare-net", "--ro-bind", "/", "/", "--proc", "/proc", "true")
"""What a container or a kernel forbids where bubblewrap does not work."""
TRIAL_SECONDS = 10.0
"""Seconds that the trial of bubblewrap may take. Less labels a busy host as one without a sandbox; more delays the
labels of one where it hangs."""


def labels_here() -> dict[str, str]:
    """Returns the labels of this host; what it lacks is ``none``.

    ``arch``, ``processor``, ``cores`` (that may measure), ``gpu`` (the first one's model), ``sandbox`` (that ``auto``
    takes), ``os`` and ``python`` (whet's own).
    """
    return dict(_found())


@cache
def _found() -> dict[str, str]:
    gpu = find_gpu()
    return {
        "arch": platform.machine(),
        "processor": processor(),
        "cores": str(len(os.sched_getaffinity(0))),
        "gpu": gpu.name if isinstance(gpu, Gpu) else NONE,
        "sandbox": _sandbox(),
        "os": system(),
        "python": platform.python_version(),
    }


def processor(cpuinfo: Path = CPUINFO) -> str:
    """Returns the model of the processor, as a file of the form of ``/proc/cpuinfo`` has it."""
    try:
        text = cpuinfo.read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    found = re.search(r"^(?:model name|Model|CPU part)\s*:\s*(.+)$", text, re.MULTILINE)
    return found[1].strip() if found else platform.processor() or "unknown"


def system() -> str:
    """Returns the name of the operating system, with its release."""
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        return platform.system()


def _sandbox() -> str:
    """Returns which sandbox ``auto`` takes, without the time that its own trial would cost."""
    try:
        docker_engine.connect().close()
        return "docker"
    except UsageError:
        return "bubblewrap" if _bubblewrap() else NONE


def _bubblewrap() -> bool:
    if shutil.which("bwrap") is None or shutil.which("setpriv") is None:
        return False
    try:
        return subprocess.run(TRIAL, capture_output=True, timeout=TRIAL_SECONDS, check=False).returncode == 0
    except subprocess.TimeoutExpired:
        return False
