"""What an attack is."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from dataclasses import dataclass

from whet.core.task import MIB, Limits
from whet.sandbox.protocol import Incident

MOST_PROCESSES = 300
MOST_MEMORY = 600 * MIB
MOST_DISK = 300 * MIB
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
        protects: the switches each of which holds it where all the others are off or do not apply: with one of
            them off it gets through.
        before: body that another candidate runs first.
        limits: what it may use.
        seconds: how long it is waited for.
        stays: it leaves processes that bear the scene's mark and must be gone when its session is.
        shell: its source is a script for ``/bin/sh``, whose stdout is what it reached; ``{file}`` and
            the like stand for the scene's canaries.
        again: it is called twice, and judged by the second answer.
        escaped: tells from what came back whether it got through.
    """

    name: str
    what: str
    source: str
    protects: tuple[str, ...] = ()
    before: str = ""
    limits: Limits = LIMITS
    seconds: float = 10.0
    stays: bool = False
    shell: bool = False
    again: bool = False
    escaped: Callable[[object], bool] = got_through


def program(body: str, scene: object) -> bytes:
    """Returns the file whose function ``attack`` is the body."""
    return f"scene = {scene!r}\ndef attack():\n{textwrap.indent(textwrap.dedent(body), '    ')}\n".encode()
