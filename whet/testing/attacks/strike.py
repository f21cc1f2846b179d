"""Runs one attack against one backend."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from whet.sandbox.bubblewrap import Bubblewrap
from whet.sandbox.docker import Docker
from whet.sandbox.inside.codec import encode
from whet.sandbox.inside.decode import decode
from whet.sandbox.interpreter import find_interpreter
from whet.sandbox.protections import ALL_ON, Protections
from whet.sandbox.protocol import Incident, Job, Sandbox, Session
from whet.testing.attacks import (
    channel,
    host_files,
    leftovers,
    memory_disk,
    network,
    privileges,
    processes,
    second_layer,
)
from whet.testing.attacks.attack import Attack, program
from whet.testing.attacks.scene import canaries, stays

LOAD_SECONDS = 20.0
PRELOAD = ("numpy",)
"""What a warm worker has imported."""

MAKERS: dict[str, Callable[[Protections], Sandbox]] = {"docker": Docker, "bubblewrap": Bubblewrap}
GROUPS = (processes, memory_disk, host_files, privileges, network, leftovers, channel, second_layer)
CORPUS: tuple[Attack, ...] = tuple(attack for group in GROUPS for attack in group.ATTACKS)


def escapes(attack: Attack, backend: str, protections: Protections = ALL_ON, warm: bool = False) -> bool:
    """Runs an attack in a sandbox of its own; returns whether it got through.

    Args:
        attack: from `CORPUS`.
        backend: key of `MAKERS`.
        protections: what is on.
        warm: in forks of a warm worker.

    Raises:
        SandboxError: the sandbox could not be made.
        UsageError: the backend does not work here.
    """
    sandbox = MAKERS[backend](protections)
    with canaries(sandbox.facts["first_user"]) as scene:
        try:
            if attack.before:
                _call(sandbox, attack, attack.before, scene, warm)
            value = (_run if attack.shell else _call)(sandbox, attack, attack.source, scene, warm)
            # Before the sandbox is closed: its end would clear away what the session's end should have.
            left = stays(scene["mark"], scene["pid"]) if attack.stays else False
        finally:
            sandbox.close()
    return left or attack.escaped(value)


def _call(sandbox: Sandbox, attack: Attack, source: str, scene: dict[str, Any], warm: bool) -> object:
    """Returns what a function returned; the incident, or None where it raised."""
    tree = sandbox.stage(attack.name + ("-before" if source == attack.before else ""), {"a.py": program(source, scene)})
    job = Job("calls", find_interpreter(), tree, attack.limits, preload=PRELOAD if warm else None)
    return _talk(sandbox, job, lambda session: _answers(session, attack))


def _answers(session: Session, attack: Attack) -> object:
    answer, _ = session.ask("load", "a.py", "attack", seconds=LOAD_SECONDS)
    assert answer == ("ok",), answer
    for _ in range(1 + attack.again):
        (_, outcome, *_), _ = session.ask("call", encode(()), seconds=attack.seconds)
    kind, _, _, value, _ = decode(outcome)
    if kind == "raise" and value[0] != "builtins:OSError":
        raise AssertionError(f"{attack.name} is broken: {value}")
    return value if kind == "value" else None


def _run(sandbox: Sandbox, attack: Attack, source: str, scene: dict[str, Any], warm: bool) -> object:
    """Returns what a shell wrote to stdout, or the incident."""

    def talk(session: Session) -> object:
        script = source.replace("{file}", scene["file"])
        session.ask("prepare", ["/bin/sh", "-c", script], b"", seconds=LOAD_SECONDS)
        session.ask("go", seconds=attack.seconds)
        (_, stdout, _), _ = session.ask("output", seconds=attack.seconds)
        return stdout

    job = Job("programs", find_interpreter(), None, attack.limits, preload=PRELOAD if warm else None)
    return _talk(sandbox, job, talk)


def _talk(sandbox: Sandbox, job: Job, talk: Callable[[Session], object]) -> object:
    session = sandbox.open(job)
    try:
        return talk(session)
    except Incident as incident:
        return incident
    finally:
        session.close()
