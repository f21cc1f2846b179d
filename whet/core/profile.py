"""Where the time goes."""

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
class Profile:
    """Hot spots of one source text, hottest first.

    Attributes:
        lines: hot lines; empty where nothing could be measured.
        source: what measured it: ``py-spy``, ``line timer``, ``perf`` or ``callgrind``.
        note: why there is nothing, or why a better tool did not measure it.
        functions: hot functions.
        unit: what the shares are shares of: ``samples``, ``ns`` or ``instructions``.
    """

    lines: tuple[HotLine, ...]
    source: str
    note: str = ""
    functions: tuple[HotFunction, ...] = ()
    unit: str = ""


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
