"""The table of model calls: one row an attempt, from the intent to what came of it.

Rows can be read by any process at any time; only the run's own `Ledger` writes them.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from typing import Any

from whet.agents.models.base import Brief, Message, Model, ModelError, Reply, Request, Usage
from whet.core.candidate import content_id
from whet.core.database.base import Connection
from whet.core.packed import pack, unpack
from whet.core.plain import from_plain, to_plain
from whet.core.result import Cost, ModelCost, Tokens
from whet.core.same import Same
from whet.core.store import Store

# Part of each key: a change of what a key covers makes old keys unfit, not wrong.
KEY_VERSION = 3
CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"))

SETTLED = (
    "input = :input, cache_write = :cache_write, cache_read = :cache_read, output = :output,"
    " usd = :usd, seconds = :seconds"
)


class CallState(StrEnum):
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
        prompt: hash of the list of its messages in the store.
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
    prompt: str
    state: CallState
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
        return not self.free and (self.state is not CallState.ERROR or self.usage.total > 0)


# A call looks its request up several times, a round asks for several samples, and a prompt is long.
REMEMBERED = 64


def question_of(request: Request) -> str:
    """Returns the hash of all that a request asks, whoever is asked."""
    with _TELLING:
        told = _told(Same(request.messages, request.brief))
    return _asked(told, request.role, request.sample, request.max_tokens)


_TELLING = threading.Lock()
"""The samples of a round are asked at once, and their long prompt is hashed by one of them."""


@lru_cache(REMEMBERED)
def _told(same: Same) -> str:
    messages, brief = same.objects
    assert isinstance(messages, tuple)
    assert isinstance(brief, Brief)
    # By their hashes: most messages recur from round to round, and what was tried grows with each.
    said = [[one.role, one.stable, content_id(one.text)] for one in messages]
    return _digest([said, to_plain(replace(brief, tried=())), content_id(" ".join(brief.tried))])


@lru_cache(REMEMBERED)
def _asked(told: str, role: str, sample: int, max_tokens: int) -> str:
    return _digest([KEY_VERSION, told, role, sample, max_tokens])


def key_of(model: str, request: Request) -> str:
    """Returns the hash of a request to one model."""
    return _key(model, question_of(request))


@lru_cache(REMEMBERED)
def _key(model: str, question: str) -> str:
    return _digest([model, question])


def _digest(data: Any) -> str:
    return hashlib.sha256(CANONICAL.encode(data).encode()).hexdigest()


class Calls:
    """The calls of one run."""

    def __init__(self, store: Store, run: str) -> None:
        self._store = store
        self._run = run
        with store.connection() as db:
            values = {"run": run, "done": CallState.DONE.value}
            known = db.execute("SELECT key FROM calls WHERE run = :run AND state = :done", values)
            # Nobody but this process records replies of a run that it holds; others only read.
            self._answered: set[bytes] = {key for (key,) in known}
        self._asking: dict[int, bytes] = {}
        # The samples of a round share a prompt.
        self._stored: tuple[tuple[Message, ...] | None, bytes] = (None, b"")

    def intend(self, model: Model, request: Request, worst: Usage, usd: float | None) -> int:
        """Records that a call is about to be made, at its worst case; returns its row."""
        question = question_of(request)
        key = bytes.fromhex(_key(model.name, question))
        values = {
            "run": self._run,
            "key": key,
            "question": bytes.fromhex(question),
            "model": model.name,
            "free": int(model.free),
            "role": request.role,
            "sample": request.sample,
            "state": CallState.INTENT.value,
            **_counts(worst),
            "usd": usd,
            "at": time.time(),
        }
        messages, prompt = self._stored
        if request.messages is messages:  # nothing else is stored, and one statement commits by itself
            with self._store.connection() as db:
                row = _intended(db, values | {"prompt": prompt})
        else:
            with self._store.transaction() as db:
                prompt = self._prompt(request.messages)
                row = _intended(db, values | {"prompt": prompt})
            self._stored = (request.messages, prompt)
        self._asking[row] = key
        return row

    def _prompt(self, messages: tuple[Message, ...]) -> bytes:
        """Stores a prompt and returns its name."""
        parts = [[message.role, self._store.put(message.text)] for message in messages]
        return bytes.fromhex(self._store.put(json.dumps(parts)))

    def finish(self, row: int, reply: Reply, usd: float | None, seconds: float) -> None:
        """Records a reply."""
        packed = pack(to_plain(reply))
        with self._store.connection() as db:
            db.execute(
                f"UPDATE calls SET state = :state, reply = :reply, {SETTLED} WHERE id = :id",
                {"state": CallState.DONE.value, "reply": packed, **_settled(row, reply.usage, usd, seconds)},
            )
            self._answered.add(self._asking.pop(row))

    def fail(self, row: int, error: ModelError, usage: Usage, usd: float | None, seconds: float) -> None:
        """Records a failure, and what it may have cost."""
        with self._store.connection() as db:
            db.execute(
                f"UPDATE calls SET state = :state, error = :error, fatal = :fatal, {SETTLED} WHERE id = :id",
                {"state": CallState.ERROR.value, "error": str(error), "fatal": int(error.fatal)}
                | _settled(row, usage, usd, seconds),
            )

    def orphan(self) -> None:
        """Turns intents into unknowns: no process of this run is there to finish them."""
        with self._store.connection() as db:
            db.execute(
                "UPDATE calls SET state = :unknown WHERE run = :run AND state = :intent",
                {"unknown": CallState.UNKNOWN.value, "run": self._run, "intent": CallState.INTENT.value},
            )

    @property
    def answered(self) -> bool:
        """Whether any reply is recorded."""
        return bool(self._answered)

    def reply(self, key: bytes) -> Reply | None:
        """Returns the recorded reply to a request by its key, if there is one."""
        if key not in self._answered:
            return None
        return self._select("AND key = :key AND state = :done", key=key, done=CallState.DONE.value)[0].reply

    def asked(self, question: str) -> list[Call]:
        """Returns all attempts to have a question answered, in order."""
        return self._select("AND question = :question", question=bytes.fromhex(question))

    def all(self) -> list[Call]:
        """Returns all calls of the run, in order."""
        return self._select()

    def cost(self) -> Cost:
        """Returns what the run's calls cost; those that nobody knows the end of at their worst case."""
        # The last condition is that of `Call.counts`.
        with self._store.connection() as db:
            rows = db.execute(
                "SELECT model, count(*), coalesce(sum(usd), 0.0), count(*) - count(usd),"
                " sum(input + cache_write + cache_read), sum(cache_read), sum(output) FROM calls"
                " WHERE run = :run AND free = 0"
                " AND (state != :error OR input + cache_write + cache_read + output > 0)"
                " GROUP BY model ORDER BY min(id)",
                {"run": self._run, "error": CallState.ERROR.value},
            ).fetchall()
        spent = Cost()
        for model, calls, usd, unpriced, read, cached, written in rows:
            tokens = Tokens(int(read), int(cached), int(written))
            spent += Cost.of(model, ModelCost(None if unpriced else usd, calls, tokens))
        return spent

    def transcript(self, *, live: bool = True) -> list[dict[str, Any]]:
        """Returns every call with its prompt, reply and cost, in order, as plain JSON data.

        Args:
            live: whether a process works on the run; else a call that never ended is unknown.
        """
        shown = []
        spent = Cost()
        for call in self.all():
            spent = _sum(spent, call)
            state = CallState.UNKNOWN if call.state is CallState.INTENT and not live else call.state
            shown.append(
                {
                    "model": call.model,
                    "role": call.role,
                    "sample": call.sample,
                    "attempt": call.attempt,
                    "state": state.value,
                    "prompt": [{"role": role, "text": self._store.get(text)} for role, text in self.prompt(call)],
                    "reply": to_plain(call.reply) if call.reply else None,
                    "error": call.error,
                    "usage": to_plain(call.usage),
                    "usd": call.usd,
                    "at": call.at,
                    "seconds": call.seconds,
                    "spent": to_plain(spent),
                }
            )
        return shown

    def prompt(self, call: Call) -> list[tuple[str, str]]:
        """Returns the role of each message of a call's prompt, and the hash of its text in the store."""
        return [(role, text) for role, text in json.loads(self._store.get(call.prompt))]

    def _select(self, condition: str = "", **values: str | bytes) -> list[Call]:
        with self._store.connection() as db:
            rows = db.execute(
                "SELECT id, model, free, role, sample, attempt, prompt, state, reply, error, fatal, usd, at, seconds,"
                f" input, cache_write, cache_read, output FROM calls WHERE run = :run {condition} ORDER BY id",
                {"run": self._run, **values},
            ).fetchall()
        return [_call(row) for row in rows]


def _intended(db: Connection, values: Mapping[str, Any]) -> int:
    ((row,),) = db.execute(
        "INSERT INTO calls (run, key, question, attempt, model, free, role, sample, prompt, state,"
        " input, cache_write, cache_read, output, usd, at)"
        " SELECT :run, :key, :question, 1 + count(*), :model, :free, :role, :sample, :prompt, :state,"
        " :input, :cache_write, :cache_read, :output, :usd, :at FROM calls"
        " WHERE run = :run AND key = :key RETURNING id",
        values,
    ).fetchall()
    return int(row)


def _counts(usage: Usage) -> dict[str, int]:
    return {
        "input": usage.input,
        "cache_write": usage.cache_write,
        "cache_read": usage.cache_read,
        "output": usage.output,
    }


def _settled(row: int, usage: Usage, usd: float | None, seconds: float) -> dict[str, Any]:
    return {**_counts(usage), "usd": usd, "seconds": seconds, "id": row}


def _call(row: Iterable[Any]) -> Call:
    id_, model, free, role, sample, attempt, prompt, state, reply, error, fatal, usd, at, seconds, *usage = row
    return Call(
        id=id_,
        model=model,
        free=bool(free),
        role=role,
        sample=sample,
        attempt=attempt,
        prompt=prompt.hex(),
        state=CallState(state),
        reply=from_plain(Reply, unpack(reply)) if reply else None,
        error=error,
        fatal=bool(fatal),
        usage=Usage(*usage),
        usd=usd,
        at=at,
        seconds=seconds,
    )


def _sum(spent: Cost, call: Call) -> Cost:
    """Returns what the calls up to and with this one cost."""
    if not call.counts:
        return spent
    usage = call.usage
    tokens = Tokens(usage.total - usage.output, usage.cache_read, usage.output)
    return spent + Cost.of(call.model, ModelCost(call.usd, 1, tokens))
