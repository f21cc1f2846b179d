"""What an attack is."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from whet.core.task import MIB, Limits
from whet.sandbox.protocol import Incident

MOST_PROCESSES = 300
"""Processes at which a fork bomb stops by itself, far above the 20 of `LIMITS`: reaching it shows that nothing held.
More would load the machine where a protection is off; a value below the limit would always be reached."""
MOST_MEMORY = 600 * MIB
"""Bytes that an attack on memory fills, more than twice the 256 MiB of `LIMITS`, yet a tenth of it is below them. More
could exhaust the host where a protection is off; less than the limit would always be reached."""
MOST_DISK = 300 * MIB
"""Bytes that an attack on the disk writes, above the 64 MiB of /tmp in a sandbox. More take room of the host where a
protection is off; less than the folder holds would always be reached."""
LIMITS = Limits(seconds=10.0, memory=256 * MIB, processes=20, output=2 * MIB)


def got_through(value: object) -> bool:
    """Whether an attack says that it got through; it returns what it reached, or nothing."""
    return not isinstance(value, Incident) and bool(value)


@dataclass(frozen=True, slots=True)
class Attack:
    """Something that hostile code tries.

    Attributes:
        name: short and unique.
        what: one line for the table.
        source: body of a function that returns what it reached, or nothing; ``scene`` is in its sight, with the
            canaries of `whet.testing.attacks.scene`. For a shell, a script.
        protects: what holds it. A switch holds it alone: with that off it gets through. Switches joined by ``+`` hold
            it each: it gets through with all of them off, and with no fewer. One that a backend lacks is left out.
        apart: the same for a backend on which other switches hold it.
        why: in words, what holds it where no switch does.
        plain: it gets through in a process without a sandbox; says so of one that no switch frees everywhere.
        tried: tells from what came back that it was tried indeed; for one that no backend can let through.
        before: body that another candidate runs first.
        beside: body that another candidate has run, whose process lives on beside it.
        limits: what it may use.
        seconds: how long it is waited for.
        stays: it leaves processes that bear the scene's mark and must be gone when its session is.
        shell: its source is a script for ``/bin/sh``, whose stdout is what it reached; ``{file}`` and
            the like stand for the scene's canaries.
        slow: it takes more than half a second, or much of the machine.
        again: it is called twice, and judged by the second answer.
        escaped: tells from what came back whether it got through.
    """

    name: str
    what: str
    source: str
    protects: tuple[str, ...] = ()
    apart: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    why: str = ""
    plain: bool = False
    tried: Callable[[object], bool] | None = None
    before: str = ""
    beside: str = ""
    limits: Limits = LIMITS
    seconds: float = 10.0
    stays: bool = False
    shell: bool = False
    slow: bool = False
    again: bool = False
    escaped: Callable[[object], bool] = got_through

    def layers(self, backend: str, switches: Collection[str]) -> list[tuple[str, ...]]:
        """Returns what holds it on a backend that has some switches: each entry must be off whole to free it."""
        named = [
            tuple(name for name in entry.split("+") if name in switches)
            for entry in self.apart.get(backend, self.protects)
        ]
        return [names for names in named if names]


def reported(*kinds: str) -> Callable[[object], bool]:
    """Returns what tells that an incident of one of some kinds came back."""
    return lambda value: isinstance(value, Incident) and value.kind in kinds


def program(body: str, scene: object) -> bytes:
    """Returns the file whose function ``attack`` is the body."""
    return f"scene = {scene!r}\ndef attack():\n{textwrap.indent(textwrap.dedent(body), '    ')}\n".encode()
