"""What happened in a run, from its record."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from whet.agents.calls import Calls
from whet.cli.hosts import host_line
from whet.cli.render import front_lines
from whet.core.front import FrontRow
from whet.core.plain import from_plain, to_plain
from whet.core.result import Tokens
from whet.core.store import RunRecord, Store
from whet.core.text import one_line, percent, printable, times
from whet.sandbox.workers.base import Host

SCHEMA = "whet.run/1"
SHORT = 10  # characters of a candidate's id that a line shows; fewer may be ambiguous, more only take room


STAGES = {"": "found", "check": "checked", "measure": "measured", "confirm": "confirmed"}
"""How far a verdict goes, by the end of its fact's name."""


def shown(store: Store, record: RunRecord) -> dict[str, Any]:
    """Returns what happened in a run, be it over or not, as plain JSON data.

    ``events`` are its calls and facts in the order of their time; ``cost`` is what it came to so far.
    """
    calls = [{"event": "call", **call} for call in _calls(store, record)]
    facts = [{"event": "fact", "at": at, "name": name, "value": value} for at, name, value in store.history(record.id)]
    winner = (record.result or {}).get("candidate")
    return {
        "prices": record.request.get("prices", {}),
        "cost": to_plain(Calls(store, record.id).cost()),
        "winner": winner["id"] if winner else None,
        "events": sorted([*calls, *facts], key=lambda event: event["at"]),
    }


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
        "transcript": _calls(store, record),
    }


def _calls(store: Store, record: RunRecord) -> list[dict[str, Any]]:
    return Calls(store, record.id).transcript(live=record.status == "running")


def lines(record: RunRecord, told: Mapping[str, Any]) -> Iterator[str]:
    """Yields what `shown` gave for people: prompts, replies, rounds, verdicts, diagnoses and costs."""
    yield f"run {record.id}: {record.command} {one_line(record.target)}, {record.status}"
    for model, price in told["prices"].items():
        yield f"price of {one_line(model, 60)}: {_price(price)}"
    for event in told["events"]:
        if event["event"] == "call":
            yield from _call(event)
        else:
            yield from _fact(event)
    yield ""
    if record.result is not None:
        if told["winner"]:
            origin = one_line(record.result["candidate"]["origin"], 60)
            yield f"winner: {told['winner'][:SHORT]} from {origin}"
        if front := record.result.get("front"):
            yield from front_lines([from_plain(FrontRow, row) for row in front])
        yield f"result: {record.result['status']}; {one_line(record.result['message'])}"
        yield f"cost: {_cost(told['cost'])}; {record.result['seconds']:.1f} s"
        return
    yield f"cost so far: {_cost(told['cost'])}"
    if record.status == "interrupted" and record.command in ("optimize", "repository"):
        yield f"go on with it: whet runs resume {record.id}"


def _price(price: Mapping[str, Any]) -> str:
    cached = "" if price["cached"] is None else f", {price['cached']:g} from its cache"
    read = f"{price['source']}, {price['date']}" if price["date"] else price["source"]
    return f"{price['input']:g} in, {price['output']:g} out{cached}, in USD a million tokens ({one_line(read)})"


def _cost(cost: Mapping[str, Any]) -> str:
    least = "" if cost["usd_complete"] else "at least "
    tokens = Tokens(**cost["tokens"])
    read = f"{tokens.input} ({percent(round(tokens.cached_share, 2))} cached)"
    return f"{least}{cost['usd']:.4f} USD, {cost['calls']} calls, {read} + {tokens.output} tokens"


def _call(call: Mapping[str, Any]) -> Iterator[str]:
    yield ""
    yield (
        f"{_clock(call['at'])} {call['role']} asks {one_line(call['model'], 60)} "
        f"(sample {call['sample']}, attempt {call['attempt']}): {_ended(call)}"
    )
    for message in call["prompt"]:
        yield from _said(message["role"], message["text"])
    if call["reply"] is not None:
        yield from _said("reply", call["reply"]["text"])
    if call["error"]:
        yield from _said("error", call["error"])
    yield f"  so far: {_cost(call['spent'])}"


def _ended(call: Mapping[str, Any]) -> str:
    """Returns how far a call got, and what it cost or may have."""
    usd = "price unknown" if call["usd"] is None else f"{call['usd']:.4f} USD"
    tokens = sum(call["usage"].values())
    if call["state"] == "unknown":
        return f"unknown: its process died meanwhile; counted at its worst case, {usd} and {tokens} tokens"
    if call["state"] == "intent":
        return f"under way; reserved is its worst case, {usd} and {tokens} tokens"
    took = "" if call["seconds"] is None else f", {call['seconds']:.1f} s"
    return f"{call['state']}, {usd}, {tokens} tokens{took}"


def _fact(fact: Mapping[str, Any]) -> Iterator[str]:
    kind, _, rest = fact["name"].partition(":")
    if kind in FACTS:
        told = list(FACTS[kind](rest, fact["value"]))
        if told:
            yield ""
            yield f"{_clock(fact['at'])} {told[0]}"
            yield from (f"  | {line}" for line in told[1:])


def _baseline(_: str, value: Mapping[str, Any]) -> Iterator[str]:
    yield f"the baseline cannot be used: {one_line(value['message'], 200)}" if value else "the baseline can be used"


def _known_best(_: str, value: Mapping[str, Any]) -> Iterator[str]:
    yield f"known best {value['id'][:SHORT]}: {one_line(value['line'], 200)}"


def _profile(id: str, value: Mapping[str, Any]) -> Iterator[str]:
    yield f"profile of {id[:SHORT]}: {one_line(value['source'] if value['lines'] else value['note'], 200)}"
    for line in value["lines"][:3]:
        yield f"{line['share']:.0%} line {line['line']}: {one_line(line['text'].strip(), 120)}"


def _candidate(id: str, value: Mapping[str, Any]) -> Iterator[str]:
    yield f"candidate {id[:SHORT]} from {one_line(value['origin'], 60)}"


def _round(number: str, value: Mapping[str, Any]) -> Iterator[str]:
    batch = ", ".join(id[:SHORT] for id in value["batch"]) or "none"
    yield f"round {number}, built upon {value['parent'][:SHORT]}: {value['proposed']} proposed; new: {batch}"
    yield from (f"unusable: {one_line(complaint, 200)}" for complaint in value["complaints"])


def _verdict(name: str, value: Mapping[str, Any]) -> Iterator[str]:
    id, _, stage = name.partition(":")
    yield f"verdict on {id[:SHORT]}, {STAGES.get(stage, stage)}: {_reached(value)}"
    for rung in value["rungs"]:
        reason = f" {rung['reason']}: {one_line(rung['detail'], 200)}" if rung["reason"] else ""
        yield f"{rung['name']} {rung['status']}{reason}"


def _reached(verdict: Mapping[str, Any]) -> str:
    failed = next((rung for rung in verdict["rungs"] if rung["status"] == "failed"), None)
    reached = failed["reason"] if failed else "nothing wrong"
    if verdict["measurement"] is None:
        return str(reached)
    speedup = verdict["measurement"]["speedup"]
    return f"{reached}, {times(speedup['ratio'])} ({times(speedup['low'])} to {times(speedup['high'])})"


def _diagnosis(number: str, value: Mapping[str, Any]) -> Iterator[str]:
    drawn = " (drawn by rule: the Judge gave no usable answer)" if value.get("by_rule") else ""
    yield f"diagnosis after round {number}{drawn}: {one_line(value['bottleneck'], 200)}"
    yield f"directive: {one_line(value['directive'], 400)}"
    for place in value.get("unknown", ()):
        yield f"names nothing that it was shown: {one_line(value['evidence'][place], 200)}"
    yield "nothing worth trying is left" if value["stop"] else _expected(value["expected_gain"], value["confidence"])


def _prediction(number: str, value: Mapping[str, Any]) -> Iterator[str]:
    gain = value["gain"]
    came = "no rewrite was right"
    if gain is not None:
        came = f"came to {times(gain['ratio'])} ({times(gain['low'])} to {times(gain['high'])})"
    yield f"the judge's prediction for round {number}: {_expected(value['expected'], value['confidence'])}; {came}"


def _expected(gain: float, confidence: float) -> str:
    return f"expected {times(gain)}, with a chance of {confidence:.0%} that it is a gain"


def _word(place: str, value: Mapping[str, Any]) -> Iterator[str]:
    number, _, _ = place.partition(":")
    of = f" {value['candidate'][:SHORT]}" if value["candidate"] else ""
    lines = f" lines {value['first']} to {value['last']}" if value["first"] else ""
    yield f"a person, before round {number}: {value['kind']}{of}{lines}"
    yield from printable(value["text"]).rstrip("\n").split("\n") if value["text"] else ()


def _timed_on(_: str, value: Mapping[str, str]) -> Iterator[str]:
    yield f"timed on hosts with {', '.join(f'{name} {one_line(label, 60)}' for name, label in value.items())}"


def _hosts(_: str, value: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield "the hosts, when it ended"
    yield from (host_line(from_plain(Host, host)) for host in value)


def _cap(where: str, value: Any) -> Iterator[str]:
    yield f"cap at {one_line(where, 60)}: {one_line(str(value))}"


FACTS: Mapping[str, Callable[[str, Any], Iterator[str]]] = {
    "baseline": _baseline,
    "known_best": _known_best,
    "profile": _profile,
    "candidate": _candidate,
    "round": _round,
    "verdict": _verdict,
    "diagnosis": _diagnosis,
    "prediction": _prediction,
    "word": _word,
    "cap": _cap,
    "timed_on": _timed_on,
    "hosts": _hosts,
}
"""How each kind of fact is told; the others are for the machine."""


def _said(role: str, text: str) -> Iterator[str]:
    yield f"  {role}"
    for line in printable(text).split("\n"):
        yield f"  | {line}".rstrip()


def _clock(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%H:%M:%S")
