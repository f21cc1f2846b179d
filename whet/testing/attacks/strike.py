"""Runs one attack against one backend."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from whet.sandbox.bubblewrap import Bubblewrap
from whet.sandbox.docker import Docker
from whet.sandbox.inside.codec import encode
from whet.sandbox.inside.decode import decode
from whet.sandbox.interpreter import find_interpreter
from whet.sandbox.protocol import Incident, Job, Sandbox, Session
from whet.sandbox.unprotected import Unprotected
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
from whet.testing.attacks.protections import ALL_ON, Protections
from whet.testing.attacks.scene import canaries, stays
from whet.testing.attacks.weakened import WeakBubblewrap, WeakDocker

LOAD_SECONDS = 20.0
"""Seconds until an attack's file is loaded, or its shell prepared; the attack itself has a limit of its own. A smaller
value fails on a busy machine, a larger one only makes a broken sandbox slower to report."""
MAKERS: dict[str, Callable[[], Sandbox]] = {"docker": Docker, "bubblewrap": Bubblewrap}
WEAKENED: dict[str, Callable[[Protections], Sandbox]] = {"docker": WeakDocker, "bubblewrap": WeakBubblewrap}
PLAIN = "none"
GROUPS = (processes, memory_disk, host_files, privileges, network, leftovers, channel, second_layer)
CORPUS: tuple[Attack, ...] = tuple(attack for group in GROUPS for attack in group.ATTACKS)


class Broken(Exception):
    """An attack did not do what it is meant to, so that it shows nothing."""


def escapes(attack: Attack, backend: str, protections: Protections = ALL_ON, **how: Any) -> bool:
    """Runs an attack in a sandbox of its own; returns whether it got through.

    Args:
        attack: from `CORPUS`.
        backend: key of `MAKERS`, or `PLAIN` for an attack that may be tried without a sandbox.
        protections: what is on.
        how: fields of the attack's jobs that are other than usual.

    Raises:
        Broken: the attack did not do what it is meant to.
        SandboxError: the sandbox could not be made.
        UsageError: the backend does not work here.
    """
    assert attack.plain or backend != PLAIN
    sandbox = _made(backend, protections)
    try:
        with canaries(sandbox.facts["first_user"]) as scene:
            return gets_through(attack, sandbox, scene, **how)
    finally:
        sandbox.close()


def _made(backend: str, protections: Protections) -> Sandbox:
    if backend == PLAIN:
        return Unprotected()
    return MAKERS[backend]() if protections == ALL_ON else WEAKENED[backend](protections)


def gets_through(attack: Attack, sandbox: Sandbox, scene: dict[str, Any], **how: Any) -> bool:
    """Runs an attack in a sandbox that others may have used; returns whether it got through. See `escapes`.

    Raises:
        Broken: it did not do what it is meant to.
        SandboxError: the sandbox could not be made.
    """
    with _neighbour(sandbox, attack, scene, how):
        if attack.before:
            _call(sandbox, attack, attack.before, scene, how)
        value = (_run if attack.shell else _call)(sandbox, attack, attack.source, scene, how)
    # Before the sandbox is closed: its end would clear away what the session's end should have.
    if attack.stays and stays(scene["mark"], scene["pid"]):
        return True
    escaped = attack.escaped(value)
    if attack.tried is not None and not (escaped or attack.tried(value)):
        raise Broken(f"{attack.name} is broken: {value!r}")
    return escaped


@contextmanager
def _neighbour(sandbox: Sandbox, attack: Attack, scene: dict[str, Any], how: Mapping[str, Any]) -> Iterator[None]:
    """Keeps the process of another candidate alive, where an attack is on one."""
    if not attack.beside:
        yield
        return
    session = sandbox.open(_job(sandbox, attack, attack.beside, scene, how))
    try:
        _answers(session, attack)
        yield
    finally:
        session.close()


def _call(sandbox: Sandbox, attack: Attack, source: str, scene: dict[str, Any], how: Mapping[str, Any]) -> object:
    """Returns what a function returned; the incident, or None where it raised."""
    return _talk(sandbox, _job(sandbox, attack, source, scene, how), lambda session: _answers(session, attack))


def _job(sandbox: Sandbox, attack: Attack, source: str, scene: dict[str, Any], how: Mapping[str, Any]) -> Job:
    bodies = (attack.source, attack.before, attack.beside)
    tree = sandbox.stage(f"{attack.name}-{bodies.index(source)}", {"a.py": program(source, scene)})
    return Job("calls", find_interpreter(), tree, attack.limits, **how)


def _answers(session: Session, attack: Attack) -> object:
    answer, _ = session.ask("load", "python", "a.py", "attack", seconds=LOAD_SECONDS)
    assert answer == ("ok",), answer
    for _ in range(1 + attack.again):
        (_, outcome, *_), _ = session.ask("call", encode(()), seconds=attack.seconds)
    kind, _, _, value, _ = decode(outcome)
    if kind == "raise" and value[0] != "builtins:OSError":
        raise Broken(f"{attack.name} is broken: {value}")
    return value if kind == "value" else None


def _run(sandbox: Sandbox, attack: Attack, source: str, scene: dict[str, Any], how: Mapping[str, Any]) -> object:
    """Returns what a shell wrote to stdout, or the incident."""

    def talk(session: Session) -> object:
        script = source.replace("{file}", scene["file"]).replace("{secret}", scene["secret"])
        session.ask("prepare", ["/bin/sh", "-c", script], b"", seconds=LOAD_SECONDS)
        session.ask("go", seconds=attack.seconds)
        (_, stdout, _), _ = session.ask("output", seconds=attack.seconds)
        return stdout

    return _talk(sandbox, Job("programs", find_interpreter(), None, attack.limits, **how), talk)


def _talk(sandbox: Sandbox, job: Job, talk: Callable[[Session], object]) -> object:
    session = sandbox.open(job)
    try:
        return talk(session)
    except Incident as incident:
        return incident
    finally:
        session.close()
