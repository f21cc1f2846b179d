"""Shows what each protection is for: the corpus against every backend, with all on and with some off."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from whet.testing.attacks.attack import Attack
from whet.testing.attacks.protections import ALL_ON
from whet.testing.attacks.strike import CORPUS, MAKERS, PLAIN, escapes

ALL = tuple(ALL_ON.__dataclass_fields__)
LACKS = {
    "docker": {"closed_descriptors": "the engine starts a container, so there is nothing of whet's to inherit"},
    "bubblewrap": {},
}
"""Backend -> switch that it cannot have -> why."""


@dataclass(frozen=True, slots=True)
class Row:
    """What came of one attack.

    Attributes:
        attack: what was tried.
        backend: against which.
        off: the switches that were off.
        escaped: whether it got through.
    """

    attack: Attack
    backend: str
    off: tuple[str, ...]
    escaped: bool

    @property
    def expected(self) -> bool:
        """Whether it must get through for the corpus to be right."""
        return self.backend == PLAIN or self.off in self.attack.layers(self.backend, switches(self.backend))


def switches(backend: str) -> tuple[str, ...]:
    """Returns the switches of a backend that mean something to this user."""
    lacks = {*LACKS[backend], *(() if os.geteuid() == 0 or backend == "docker" else ("drop_privileges",))}
    return tuple(name for name in ALL if name not in lacks)


def rows(backend: str, corpus: tuple[Attack, ...] = CORPUS) -> Iterator[Row]:
    """Runs every attack with all on, then with what holds it off, whole and but for one."""
    for attack in corpus:
        for off in ((), *_offs(attack.layers(backend, switches(backend)))):
            on = replace(ALL_ON, **dict.fromkeys(off, False))
            yield Row(attack, backend, off, escapes(attack, backend, on))


def _offs(layers: list[tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
    for names in layers:
        yield names
        if len(names) > 1:
            yield from (tuple(other for other in names if other != name) for name in names)


def plain_rows(corpus: tuple[Attack, ...] = CORPUS) -> Iterator[Row]:
    """Runs those attacks without a sandbox that say that they get through then."""
    for attack in corpus:
        if attack.plain:
            yield Row(attack, PLAIN, (), escapes(attack, PLAIN))


def faults(done: Iterable[Row]) -> list[str]:
    """Returns what is wrong: attacks that get through, or do not where they should."""
    return [_fault(row) for row in done if row.escaped != row.expected]


def idle(backend: str, corpus: tuple[Attack, ...] = CORPUS) -> list[str]:
    """Returns the switches of a backend that are said to hold no attack, alone or with others."""
    mine = switches(backend)
    holding = {name for attack in corpus for names in attack.layers(backend, mine) for name in names}
    return [name for name in mine if name not in holding]


def _fault(row: Row) -> str:
    without = f" without {', '.join(row.off)}" if row.off else ""
    return f"{row.attack.name} {'gets through' if row.escaped else 'is held by'} {row.backend}{without}"


def text(done: list[Row]) -> str:
    """Returns the tables in Markdown: what came of each attack, then what each switch is for."""
    backends = [backend for backend in MAKERS if any(row.backend == backend for row in done)]
    lines = ["| attack | what it tries | " + " | ".join(backends) + " |", "|---" * (2 + len(backends)) + "|"]
    for attack in {row.attack.name: row.attack for row in done}.values():
        mine = [row for row in done if row.attack is attack]
        bare = next((row.escaped for row in mine if row.backend == PLAIN), False)
        cells = [_cell(attack, [row for row in mine if row.backend == backend], bare) for backend in backends]
        lines.append(f"| {attack.name} | {attack.what} | " + " | ".join(cells) + " |")
    lines += ["", "| switch | " + " | ".join(f"what {backend} holds by it" for backend in backends) + " |"]
    lines.append("|---" * (1 + len(backends)) + "|")
    for name in ALL:
        lines.append(f"| `{name}` | " + " | ".join(_freed(name, backend, done) for backend in backends) + " |")
    return "\n".join(lines)


def _cell(attack: Attack, done: list[Row], bare: bool) -> str:
    if any(row.escaped and not row.off for row in done):
        return "**escaped**"
    ways = [" and ".join(f"`{name}`" for name in row.off) for row in done if row.escaped]
    if ways:
        return f"held; escapes without {', or without '.join(ways)}"
    return f"held: {attack.why}" + ("; escapes without a sandbox" if bare else "")


def _freed(name: str, backend: str, done: list[Row]) -> str:
    if name in LACKS[backend]:
        return f"no such switch: {LACKS[backend][name]}"
    mine = [row for row in done if row.backend == backend and row.escaped and name in row.off]
    alone = [row.attack.name for row in mine if len(row.off) == 1]
    shared = [f"{row.attack.name} (as {_others(name, row.off)})" for row in mine if len(row.off) > 1]
    return ", ".join(dict.fromkeys(alone + shared))


def _others(name: str, off: tuple[str, ...]) -> str:
    return " and ".join(f"`{other}`" for other in off if other != name) + (" does" if len(off) == 2 else " do")
