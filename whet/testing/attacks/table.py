"""Shows what each protection is for: the corpus against every backend, with all on and with each one off.

``python -m whet.testing.attacks.table`` writes the table into ``docs/sandbox.md``, between two marks.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from whet.sandbox.protections import ALL_ON
from whet.testing.attacks.attack import Attack
from whet.testing.attacks.strike import CORPUS, MAKERS, escapes
from whet.testing.engine import docker_engine

PAGE = Path(__file__).resolve().parents[3] / "docs" / "sandbox.md"
BEGIN, END = "<!-- attacks: begin -->", "<!-- attacks: end -->"
DOCKER = (
    "drop_privileges seccomp landlock network hidden_host_files sized_folders file_limit address_limit memory_limit "
    "inode_limit process_limit answer_limit turns"
)
SWITCHES: dict[str, tuple[str, ...]] = {
    "docker": tuple(DOCKER.split()),
    "bubblewrap": tuple(ALL_ON.__dataclass_fields__),
}
"""Those that a backend has, and that can be off without danger to the host."""


@dataclass(frozen=True, slots=True)
class Row:
    """What came of one attack.

    Attributes:
        attack: what was tried.
        backend: against which.
        off: the switch that was off; empty where all were on.
        escaped: whether it got through.
    """

    attack: Attack
    backend: str
    off: str
    escaped: bool


def switches(backend: str) -> tuple[str, ...]:
    """Returns the switches of a backend that mean something to this user."""
    rootless = () if os.geteuid() == 0 or backend == "docker" else ("drop_privileges",)
    return tuple(name for name in SWITCHES[backend] if name not in rootless)


def rows(backend: str, corpus: tuple[Attack, ...] = CORPUS) -> Iterator[Row]:
    """Runs every attack with all on, then with each switch off that is said to hold it."""
    for attack in corpus:
        for off in ("", *(name for name in attack.protects if name in switches(backend))):
            # The second layer holds much of what the first does: each switch of that is tried without it.
            on = replace(ALL_ON, **dict.fromkeys((off, "landlock"), False)) if off else ALL_ON
            yield Row(attack, backend, off, escapes(attack, backend, on))


def faults(done: list[Row]) -> list[str]:
    """Returns what is wrong: attacks that get through, and switches whose removal frees nothing."""
    through = [f"{row.attack.name} gets through {row.backend}" for row in done if row.escaped and not row.off]
    for backend in {row.backend: None for row in done}:
        freed = {row.off for row in done if row.backend == backend and row.escaped}
        through += [f"{name} of {backend} frees nothing" for name in switches(backend) if name not in freed]
    return through


def text(done: list[Row]) -> str:
    """Returns the table in Markdown."""
    backends = list({row.backend: None for row in done})
    lines = ["| attack | what it tries | " + " | ".join(backends) + " |", "|---" * (2 + len(backends)) + "|"]
    for attack in {row.attack.name: row.attack for row in done}.values():
        cells = [_cell([r for r in done if r.attack is attack and r.backend == backend]) for backend in backends]
        lines.append(f"| {attack.name} | {attack.what} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _cell(done: list[Row]) -> str:
    all_on, *others = done
    said = ["**escaped**" if all_on.escaped else "held"]
    for word, escaped in (("escapes", True), ("held even", False)):
        names = ", ".join(f"`{row.off}`" for row in others if row.escaped == escaped)
        said += [f"{word} without {names}"] if names else []
    return "; ".join(said)


def write(table: str, page: Path = PAGE) -> None:
    """Puts the table between the marks of a page.

    Raises:
        ValueError: the page lacks a mark.
    """
    before, rest = page.read_text(encoding="utf-8").split(BEGIN)
    _, after = rest.split(END)
    page.write_text(f"{before}{BEGIN}\n{table}\n{END}{after}", encoding="utf-8")


def main() -> None:
    """Runs all and writes the table; ends with a fault of the corpus or of a sandbox, if there is one."""
    with ExitStack() as stack:
        host = stack.enter_context(docker_engine())
        if host is not None:
            os.environ["DOCKER_HOST"] = host
        done = [row for backend in MAKERS for row in rows(backend)]
    write(text(done))
    if wrong := faults(done):
        raise SystemExit("\n".join(wrong))
    print(f"{len(done)} attacks; {PAGE.name} written")


if __name__ == "__main__":
    main()
