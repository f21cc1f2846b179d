"""Where time and memory go."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from whet.core.counter import Counter
from whet.core.plain import to_plain
from whet.core.result import TaskName

SCHEMA = "whet.profile/1"


@dataclass(frozen=True, slots=True)
class HotLine:
    """A line of the target's file and its share of the whole, 0 to 1; what it calls in other files counts for it."""

    line: int
    share: float
    text: str


@dataclass(frozen=True, slots=True)
class HotFunction:
    """A function and its share of the whole, 0 to 1.

    Attributes:
        name: as the language writes it.
        file: the target's file, or a library; as the tool names it.
        line: where it begins; None where the tool does not tell.
        own: the share spent in the function itself.
        total: with all that it calls; None where the tool does not tell.
    """

    name: str
    file: str
    line: int | None
    own: float
    total: float | None


@dataclass(frozen=True, slots=True)
class MemoryLine:
    """What a line of the target's file takes of memory; what it calls in other files counts for it.

    Attributes:
        line: its number, from 1.
        text: what stands there.
        peak_bytes: bytes of its blocks that lived when the target held most; for Python, what one execution of the line
            took for a moment where that is more.
        blocks: how many of its blocks lived then.
        allocations: of the whole run; None where the tool does not tell.
    """

    line: int
    text: str
    peak_bytes: int
    blocks: int
    allocations: int | None


@dataclass(frozen=True, slots=True)
class Memory:
    """Memory by line, on one input.

    Attributes:
        lines: those that take most, the largest first.
        peak_bytes: the most that was allocated at a time; None where nothing could be measured.
        source: what measured it: ``tracemalloc`` or ``dhat``.
        note: why there is nothing.
    """

    lines: tuple[MemoryLine, ...]
    peak_bytes: int | None
    source: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Profile:
    """Hot spots of one source text, hottest first.

    Attributes:
        lines: hot lines; empty where nothing could be measured.
        source: what measured it: ``py-spy``, ``line timer``, ``perf`` or ``callgrind``.
        note: why there is nothing, or why a better tool did not measure it.
        functions: hot functions.
        unit: what the shares are shares of: ``samples``, ``ns`` or ``instructions``.
        memory: by line; None where it was not asked for.
        model: what a model of the processor says of its loops, a line each; empty for all but assembly.
    """

    lines: tuple[HotLine, ...]
    source: str
    note: str = ""
    functions: tuple[HotFunction, ...] = ()
    unit: str = ""
    memory: Memory | None = None
    model: str = ""


def in_bytes(size: int) -> str:
    """Returns a number of bytes as people write it: ``7.6 MiB``."""
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit:
            return f"{size / unit:.1f} {name}"
    return f"{size} B"


@dataclass(frozen=True, slots=True)
class ProfileReport:
    """The document that ``whet profile`` ends in.

    Attributes:
        task: what was profiled.
        profile: its hot spots.
        counters: of one run, or why there are none.
        sandbox: the facts of what it ran in.
        loosened: what the sandbox was made to allow; empty where nothing was.
        seconds: wall time of it all.
    """

    task: TaskName
    profile: Profile
    counters: tuple[Counter, ...]
    sandbox: Mapping[str, Any] = field(default_factory=dict)
    loosened: str = ""
    seconds: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """Returns the document as plain JSON data."""
        return {"schema": SCHEMA, **to_plain(self)}
