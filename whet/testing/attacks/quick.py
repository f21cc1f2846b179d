"""The short form of the corpus, by which ``whet doctor`` tries the sandboxes of a machine."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from whet.core.errors import SandboxError
from whet.sandbox.protocol import AttackReport, BackendReport, Sandbox
from whet.testing.attacks.attack import Attack
from whet.testing.attacks.scene import canaries
from whet.testing.attacks.strike import CORPUS, MAKERS, Broken, gets_through

QUICK: tuple[Attack, ...] = tuple(attack for attack in CORPUS if not attack.slow)


def attacked(reports: Iterable[BackendReport], corpus: tuple[Attack, ...] = QUICK) -> list[BackendReport]:
    """Attacks the backends that are available; returns the reports with what came of it."""
    return [replace(report, attacks=_struck(report.name, corpus)) if report.available else report for report in reports]


def _struck(backend: str, corpus: tuple[Attack, ...]) -> tuple[AttackReport, ...]:
    sandbox = MAKERS[backend]()
    try:
        with canaries(sandbox.facts["first_user"]) as scene:
            return tuple(AttackReport(attack.name, _held(attack, sandbox, scene)) for attack in corpus)
    finally:
        sandbox.close()


def _held(attack: Attack, sandbox: Sandbox, scene: dict[str, Any]) -> bool | None:
    try:
        return not gets_through(attack, sandbox, scene)
    except (Broken, SandboxError):
        return None
