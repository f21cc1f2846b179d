"""What a run tells whoever watches it, while it works."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class EventKind(StrEnum):
    """What an event is about.

    ``stage``: a step began or ended (baseline, profile, confirm). Of the run itself: data ``named``, its id, where it
    is yet to begin; once it has begun ``run``, ``budget`` and ``worked``, the seconds before, and ``told`` where its id
    was said already. ``round``: a round began, data ``round``.
    ``candidate``: one candidate moved on, data ``candidate``, ``origin``, ``state`` (checking, waiting for the clock,
    measuring, done, confirmed, unconfirmed), and once done ``reason`` or ``ratio``, ``low``, ``high``; ``answer`` is
    the file that it was read from. Once confirmed or not, ``ratio``, ``first`` (the ratio before) and ``why``.
    ``turn``: a turn of a measurement begins, data ``candidate``, ``rung``, ``turn``, ``turns`` (by the next look).
    ``waiting``: another measurement has a core, data ``core``, ``holder`` (its run; empty where nobody can
    tell), ``process`` (or None); and again with ``over`` once that has ended.
    ``answer``: what a person who answers through files is asked, and what became of that; without text, data ``file``
    and ``awaited``: whether that is awaited from now on or no longer.
    ``judge``: data ``directive``. ``cost``:
    data ``usd``, ``tokens``, ``calls``. ``recorded``: what came of ``--record``. ``hosts``: how they are now, data
    ``hosts`` (see `whet.sandbox.workers.base.Host`) and ``waiting``, the work that none has begun.
    """

    STAGE = "stage"
    ROUND = "round"
    CANDIDATE = "candidate"
    TURN = "turn"
    WAITING = "waiting"
    ANSWER = "answer"
    JUDGE = "judge"
    COST = "cost"
    RECORDED = "recorded"
    HOSTS = "hosts"


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened, as a line for people and as data for displays."""

    kind: EventKind
    text: str
    data: Mapping[str, Any] = field(default_factory=dict)


Listener = Callable[[Event], None]


def null_listener(event: Event) -> None:
    """A listener for those who do not care."""
