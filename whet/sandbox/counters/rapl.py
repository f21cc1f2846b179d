"""Energy of the processor packages, by the kernel's powercap files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from whet.core.counter import Counter, counted, missing

SOURCE = "rapl"
ROOT = Path("/sys/class/powercap")


def read(root: Path = ROOT) -> dict[str, int]:
    """Returns the microjoules on each package's meter; they only mean something as a difference.

    Raises:
        OSError: a meter is there and may not be read.
        ValueError: a meter holds no number.
    """
    packages = sorted(path for path in root.glob("*-rapl:*") if path.name.count(":") == 1)
    return {path.name: int((path / "energy_uj").read_text()) for path in packages}


def joules(before: Mapping[str, int], after: Mapping[str, int], root: Path = ROOT) -> float:
    """Returns what all packages used between two readings; a meter that began again in between counts on.

    Raises:
        OSError: a meter's range may not be read.
    """
    total = 0
    for name, start in before.items():
        used = after[name] - start
        if used < 0:
            used += int((root / name / "max_energy_range_uj").read_text())
        total += used
    return total / 1e6


def lacking(root: Path = ROOT) -> str:
    """Returns why energy cannot be read; empty where it can."""
    try:
        found = read(root)
    except OSError as error:
        return f"{error.filename} cannot be read: {error.strerror}; it is for root alone on most systems"
    except ValueError:
        return f"a meter under {root} holds no number"
    return "" if found else f"there is no energy meter under {root}"


def probe(root: Path = ROOT) -> tuple[Counter, ...]:
    """Reads the meters twice."""
    if reason := lacking(root):
        return (missing("energy", "J", SOURCE, reason),)
    return (counted("energy", joules(read(root), read(root), root), "J", SOURCE),)
