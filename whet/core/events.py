"""What a run tells whoever watches it, while it works."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Kind(StrEnum):
    """What an event is about.

    ``stage``: a step began or ended (baseline, profile, confirm). ``round``: a round began, data ``round``.
    ``candidate``: one candidate moved on, data ``candidate``, ``origin``, ``state`` (checking, measuring,
    done), and once done ``reason`` or ``ratio``, ``low``, ``high``. ``judge``: data ``directive``. ``cost``:
    data ``usd``, ``tokens``, ``calls``. ``recorded``: what came of ``--record``. ``hosts``: how they are now, data
    ``hosts`` (see `whet.sandbox.workers.base.Host`) and ``waiting``, the work that none has begun.
    """

    STAGE = "stage"
    ROUND = "round"
    CANDIDATE = "candidate"
    JUDGE = "judge"
    COST = "cost"
    RECORDED = "recorded"
    HOSTS = "hosts"


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened, as a line for people and as data for displays."""

    kind: Kind
    text: str
    data: Mapping[str, Any] = field(default_factory=dict)


Listener = Callable[[Event], None]


def unheard(event: Event) -> None:
    """A listener for those who do not care."""
