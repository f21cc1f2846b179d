"""The table of model calls: one row an attempt, from the intent to what came of it.

Rows can be read by any process at any time; only the run's own `Ledger` writes them.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from whet.agents.models.base import Model, ModelError, Reply, Request, Usage
from whet.core.plain import from_plain, to_plain
from whet.core.result import Cost, Tokens
from whet.core.store import Store

# Part of each key: a change of what a key covers makes old keys unfit, not wrong.
KEY_VERSION = 1

TABLE = """
CREATE TABLE IF NOT EXISTS calls (
    id INTEGER PRIMARY KEY,
    run TEXT NOT NULL, key TEXT NOT NULL, question TEXT NOT NULL, attempt INTEGER NOT NULL,
    model TEXT NOT NULL, free INTEGER NOT NULL, role TEXT NOT NULL, sample INTEGER NOT NULL,
    prompt TEXT NOT NULL, state TEXT NOT NULL, reply TEXT, error TEXT, fatal INTEGER NOT NULL DEFAULT 0,
    usage TEXT NOT NULL, usd REAL, at REAL NOT NULL, seconds REAL,
    UNIQUE (run, key, attempt)
);
CREATE INDEX IF NOT EXISTS calls_by_question ON calls (run, question);
"""


class State(StrEnum):
    """How far a call got. ``unknown``: its process died while it was under way."""

    INTENT = "intent"
    DONE = "done"
    ERROR = "error"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Call:
    """One attempt.

    Attributes:
        id: its row.
        model: who was asked.
        free: whether that costs nothing.
        role: coder or judge.
        sample: which of several answers to one prompt.
        attempt: 1, 2, ... for one request to one model.
        prompt: role of each message, and the hash of its text in the store.
        state: how far it got.
        reply: what came, for a done one.
        error: what went wrong, for a failed one.
        fatal: whether the failure was one of all further calls too.
        usage: tokens; the worst case until the provider has counted.
        usd: what it cost, or may have; None where the price is unknown.
        at: when it began, in seconds since the epoch.
        seconds: how long it took; None where nobody knows.
    """

    id: int
    model: str
    free: bool
    role: str
    sample: int
    attempt: int
    prompt: tuple[tuple[str, str], ...]
    state: State
    reply: Reply | None
    error: str | None
    fatal: bool
    usage: Usage
    usd: float | None
    at: float
    seconds: float | None

    @property
    def counts(self) -> bool:
        """Whether it is one that costs: paid, and not turned away unread."""
        return not self.free and (self.state is not State.ERROR or self.usage.total > 0)


def question_of(request: Request) -> str:
    """Returns the hash of all that a request asks, whoever is asked."""
    return _digest([KEY_VERSION, to_plain(request)])


def key_of(model: str, request: Request) -> str:
    """Returns the hash of a request to one model."""
    return _digest([KEY_VERSION, model, to_plain(request)])


def _digest(data: Any) -> str:
    return hashlib.sha256(json.dumps(data, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


class Calls:
    """The calls of one run."""

    def __init__(self, store: Store, run: str) -> None:
        self._store = store
        self._run = run
        with store.connection() as db:
            db.executescript(TABLE)

    def intend(self, model: Model, request: Request, worst: Usage, usd: float | None) -> int:
        """Records that a call is about to be made, at its worst case; returns its row."""
        prompt = json.dumps([[message.role, self._store.put(message.text)] for message in request.messages])
        key = key_of(model.name, request)
        with self._store.connection() as db:
            row = db.execute(
                "INSERT INTO calls (run, key, question, attempt, model, free, role, sample, prompt, state,"
                " usage, usd, at) SELECT ?, ?, ?, 1 + count(*), ?, ?, ?, ?, ?, ?, ?, ?, ? FROM calls"
                " WHERE run = ? AND key = ?",
                (
                    *(
                        self._run,
                        key,
                        question_of(request),
                        model.name,
                        model.free,
                        request.role,
                        request.sample,
                    ),
                    *(prompt, State.INTENT, json.dumps(to_plain(worst)), usd, time.time(), self._run, key),
                ),
            )
            assert row.lastrowid is not None
            return row.lastrowid

    def finish(self, row: int, reply: Reply, usd: float | None, seconds: float) -> None:
        """Records a reply."""
        usage = json.dumps(to_plain(reply.usage))
        with self._store.connection() as db:
            db.execute(
                "UPDATE calls SET state = ?, reply = ?, usage = ?, usd = ?, seconds = ? WHERE id = ?",
                (State.DONE, json.dumps(to_plain(reply)), usage, usd, seconds, row),
            )

    def fail(self, row: int, error: ModelError, usage: Usage, usd: float | None, seconds: float) -> None:
        """Records a failure, and what it may have cost."""
        with self._store.connection() as db:
            db.execute(
                "UPDATE calls SET state = ?, error = ?, fatal = ?, usage = ?, usd = ?, seconds = ? WHERE id = ?",
                (State.ERROR, str(error), error.fatal, json.dumps(to_plain(usage)), usd, seconds, row),
            )

    def orphan(self) -> None:
        """Turns intents into unknowns: no process of this run is there to finish them."""
        with self._store.connection() as db:
            db.execute(
                "UPDATE calls SET state = ? WHERE run = ? AND state = ?",
                (State.UNKNOWN, self._run, State.INTENT),
            )

    def reply(self, model: str, request: Request) -> Reply | None:
        """Returns the recorded reply of a model to a request, if there is one."""
        calls = self._select("key = ? AND state = ?", key_of(model, request), State.DONE)
        return calls[0].reply if calls else None

    def asked(self, question: str) -> list[Call]:
        """Returns all attempts to have a question answered, in order."""
        return self._select("question = ?", question)

    def all(self) -> list[Call]:
        """Returns all calls of the run, in order."""
        return self._select("1")

    def cost(self) -> Cost:
        """Returns what the run's calls cost; those that nobody knows the end of at their worst case."""
        counted = [call for call in self.all() if call.counts]
        usages = [call.usage for call in counted]
        return Cost(
            usd=sum(call.usd or 0.0 for call in counted),
            usd_complete=all(call.usd is not None for call in counted),
            calls=len(counted),
            tokens=Tokens(
                input=sum(usage.total - usage.output for usage in usages),
                cached=sum(usage.cache_read for usage in usages),
                output=sum(usage.output for usage in usages),
            ),
        )

    def transcript(self) -> list[dict[str, Any]]:
        """Returns every call with its prompt, reply and cost, in order, as plain JSON data."""
        return [
            {
                "model": call.model,
                "role": call.role,
                "sample": call.sample,
                "attempt": call.attempt,
                "state": call.state.value,
                "prompt": [{"role": role, "text": self._store.get(text)} for role, text in call.prompt],
                "reply": to_plain(call.reply) if call.reply else None,
                "error": call.error,
                "usage": to_plain(call.usage),
                "usd": call.usd,
                "at": call.at,
                "seconds": call.seconds,
            }
            for call in self.all()
        ]

    def _select(self, condition: str, *values: str) -> list[Call]:
        with self._store.connection() as db:
            rows = db.execute(
                "SELECT id, model, free, role, sample, attempt, prompt, state, reply, error, fatal, usage,"
                f" usd, at, seconds FROM calls WHERE run = ? AND {condition} ORDER BY id",
                (self._run, *values),
            ).fetchall()
        return [_call(row) for row in rows]


def _call(row: Iterable[Any]) -> Call:
    id_, model, free, role, sample, attempt, prompt, state, reply, error, fatal, usage, usd, at, seconds = row
    return Call(
        id=id_,
        model=model,
        free=bool(free),
        role=role,
        sample=sample,
        attempt=attempt,
        prompt=tuple((said, text) for said, text in json.loads(prompt)),
        state=State(state),
        reply=from_plain(Reply, json.loads(reply)) if reply else None,
        error=error,
        fatal=bool(fatal),
        usage=from_plain(Usage, json.loads(usage)),
        usd=usd,
        at=at,
        seconds=seconds,
    )
