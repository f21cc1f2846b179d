"""What happened in a run, from its record."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from whet.agents.calls import Calls
from whet.cli.text import one_line, printable, times
from whet.core.store import RunRecord, Store

SCHEMA = "whet.run/1"
SHORT = 10


def events(store: Store, run: str) -> list[dict[str, Any]]:
    """Returns the calls and the facts of a run, in the order of their time, as plain JSON data."""
    calls = [{"event": "call", **call} for call in Calls(store, run).transcript()]
    facts = [{"event": "fact", "at": at, "name": name, "value": value} for at, name, value in store.history(run)]
    return sorted([*calls, *facts], key=lambda event: event["at"])


def document(store: Store, record: RunRecord) -> dict[str, Any]:
    """Returns all that is recorded of a run, with the texts that its facts name by their hash."""
    facts = store.facts(record.id)
    sources = [name.partition(":")[2] for name in facts if name.startswith("candidate:")]
    if isinstance(facts.get("task"), str):
        facts["task"] = json.loads(store.get(facts["task"]))
    return {
        "schema": SCHEMA,
        **asdict(record),
        "facts": facts,
        "sources": {name: store.get(name) for name in sources},
        "transcript": Calls(store, record.id).transcript(),
    }


def lines(record: RunRecord, happened: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yields a run for people: prompts, replies, verdicts and costs."""
    yield f"run {record.id}: {record.command} {one_line(record.target)}, {record.status}"
    for event in happened:
        if event["event"] == "call":
            yield from _call(event)
        else:
            yield from _fact(event)
    if record.result is not None:
        cost = record.result["cost"]
        yield ""
        yield f"result: {record.result['status']}; {one_line(record.result['message'])}"
        yield f"cost: {cost['usd']:.4f} USD, {cost['calls']} calls; {record.result['seconds']:.1f} s"


def _call(call: Mapping[str, Any]) -> Iterator[str]:
    price = "price unknown" if call["usd"] is None else f"{call['usd']:.4f} USD"
    took = "" if call["seconds"] is None else f", {call['seconds']:.1f} s"
    yield ""
    yield (
        f"{_clock(call['at'])} {call['role']} asks {one_line(call['model'], 60)} "
        f"(sample {call['sample']}, attempt {call['attempt']}): {call['state']}, {price}{took}"
    )
    for message in call["prompt"]:
        yield from _said(message["role"], message["text"])
    if call["reply"] is not None:
        yield from _said("reply", call["reply"]["text"])
    if call["error"]:
        yield from _said("error", call["error"])


def _fact(fact: Mapping[str, Any]) -> Iterator[str]:
    kind, _, rest = fact["name"].partition(":")
    value, when = fact["value"], _clock(fact["at"])
    if kind == "verdict":
        yield ""
        yield f"{when} verdict on {rest[:SHORT]}: {_verdict(value)}"
        for rung in value["rungs"]:
            reason = f" {rung['reason']}: {one_line(rung['detail'], 200)}" if rung["reason"] else ""
            yield f"  | {rung['name']} {rung['status']}{reason}"
    elif kind == "candidate":
        yield ""
        yield f"{when} candidate {rest[:SHORT]} from {one_line(value['origin'], 60)}"
    elif kind == "cap":
        yield ""
        yield f"{when} cap: {one_line(str(value))}"


def _verdict(verdict: Mapping[str, Any]) -> str:
    failed = next((rung for rung in verdict["rungs"] if rung["status"] == "failed"), None)
    reached = failed["reason"] if failed else "nothing wrong"
    if verdict["measurement"] is None:
        return str(reached)
    speedup = verdict["measurement"]["speedup"]
    return f"{reached}, {times(speedup['ratio'])} ({times(speedup['low'])} to {times(speedup['high'])})"


def _said(role: str, text: str) -> Iterator[str]:
    yield f"  {role}"
    for line in printable(text).split("\n"):
        yield f"  | {line}".rstrip()


def _clock(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%H:%M:%S")
