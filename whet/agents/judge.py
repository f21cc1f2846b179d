"""The Judge: from the verdicts of a round to one diagnosis and one directive. It never touches a verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from pydantic import ValidationError

from whet.agents.advice import judge_advice
from whet.agents.answers import LONGEST
from whet.agents.coder import Ask, repair_request
from whet.agents.diagnosis import Diagnosis
from whet.agents.figures import figures, unknown
from whet.agents.kernels import judge_kernel
from whet.agents.models.base import Message, Model, ModelError, Reply, Request
from whet.agents.predictions import Record
from whet.agents.room import WHOLE, Cut, fitted
from whet.agents.situation import Situation
from whet.agents.telling import shown, told
from whet.core.config import describe_invalid
from whet.core.measurement import gain_in
from whet.core.patch import Malformed
from whet.core.profile import Memory, MemoryLine, in_bytes
from whet.prompts import one_line, render

ROOM = 4096
"""Tokens of an answer."""
LARGE = 1 << 20
"""Bytes at the peak from which a line's memory is told."""
TOLD = 3  # lines whose peak memory is told, the largest first; more cost tokens, fewer hide allocations that matter
LONGEST_TEXT = 80  # characters of such a line; the prompt shows the file itself, so more only cost tokens

Records = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Past:
    """What the Judge is told of its own earlier answers.

    Attributes:
        foreseen: its predictions so far, and what came of them.
        last: its last answer; None before the first.
    """

    foreseen: Record = field(default_factory=Record)
    last: Diagnosis | None = None

    @property
    def uncited(self) -> list[str]:
        """What the last answer cited and had not been shown."""
        return [] if self.last is None else [self.last.evidence[place] for place in self.last.unknown]


NO_PAST = Past()


def judge_request(facts: Situation, records: Records, past: Past = NO_PAST) -> Request:
    """Returns the question about one round; the task and the best version are told as the Coder is told them."""
    known = (_system(), *told(facts, judge_advice))
    asked = fitted(
        known,
        facts.parent.source,
        len(facts.siblings),
        len(facts.earlier),
        lambda cut: _asked(facts, records, past, cut),
    )
    messages = (*known, Message("user", asked))
    return Request("judge", messages, facts.round, ROOM, facts.brief(tuple(records)), f"round {facts.round}, the judge")


def _asked(facts: Situation, records: Records, past: Past, cut: Cut) -> str:
    """Returns the part of the question that is of this round."""
    return render(
        "judge_round",
        **shown(facts, cut),
        records=records,
        memory=told_of_memory(facts.profile.memory),
        kernel=judge_kernel(facts),
        figures=shown_figures(facts, records, cut),
        foreseen=past.foreseen,
        uncited=past.uncited,
    )


def shown_figures(facts: Situation, records: Records, cut: Cut = WHOLE) -> dict[str, list[str]]:
    """Returns the names of all figures in the question about one round, by what they tell."""
    peaks = [line.line for line in large_lines(facts.profile.memory)]
    _, earlier = facts.told_earlier(cut)
    return figures(facts, peaks, len(records), len(earlier))


@cache
def _system() -> Message:
    return Message("system", render("judge_system"), stable=True)


def large_lines(memory: Memory | None) -> list[MemoryLine]:
    """Returns the allocations that are large enough to matter."""
    return [line for line in memory.lines if line.peak_bytes >= LARGE][:TOLD] if memory else []


def told_of_memory(memory: Memory | None) -> list[str]:
    """Returns what the Judge is told of memory, a line for each large allocation."""
    return [
        f"peak of line {line.line}: {in_bytes(line.peak_bytes)}: {one_line(line.text, LONGEST_TEXT)}"
        for line in large_lines(memory)
    ]


def diagnose(ask: Ask, model: Model, facts: Situation, records: Records, past: Past = NO_PAST) -> Diagnosis:
    """Asks the Judge about a round.

    An answer that cannot be read is sent back once; after that, or where the model fails, a diagnosis is
    drawn from the verdicts alone. What an answer cites and was not shown is noted, and told with the next question.

    Raises:
        BudgetError: a cap does not allow the call.
    """
    request = judge_request(facts, records, past)
    try:
        reply = ask(model, request)
        said = read_diagnosis(reply)
        if isinstance(said, Malformed):
            said = read_diagnosis(ask(model, repair_request(request, reply, "judge_repair", said)))
    except ModelError as error:
        said = Malformed(str(error))
    if isinstance(said, Malformed):
        return neutral(facts, records, said)
    names = shown_figures(facts, records)
    return said.model_copy(update={"unknown": unknown(said.evidence, names)})


def read_diagnosis(reply: Reply) -> Diagnosis | Malformed:
    """Returns the diagnosis in an answer, which may stand in a fence or between other text."""
    text = reply.text
    begin, end = text.find("{"), text.rfind("}")
    if not 0 <= begin < end:
        return Malformed("no JSON object was found")
    if len(text) > LONGEST:
        return Malformed("the answer is too long")
    try:
        said = Diagnosis.model_validate_json(text[begin : end + 1].encode("utf-8", "replace"))
    except ValidationError as error:
        return Malformed(one_line(describe_invalid(error, Diagnosis)))
    return said.model_copy(update={"by_rule": False, "unknown": ()})


def neutral(facts: Situation, records: Records, fault: Malformed) -> Diagnosis:
    """Returns a diagnosis that holds no opinion, only what the verdicts and the profile say."""
    wrong = sorted({f"{record['reason']} at {record['rung']}" for record in records if not record["correct"]})
    hot = facts.profile.lines[:3]
    parts = ["The Judge gave no usable answer; this is drawn from the verdicts alone."]
    if wrong:
        parts.append(f"Rewrites were rejected ({', '.join(wrong)}): keep the behaviour exactly.")
    if any(record["correct"] and not record["improved"] for record in records):
        parts.append(f"What was right was not {gain_in(facts.metric)}: try another way.")
    if hot:
        parts.append(f"Most time goes to {', '.join(f'line {line.line}' for line in hot)}.")
    return Diagnosis(
        bottleneck=f"line {hot[0].line} takes {hot[0].share:.0%} of the time" if hot else "not known",
        evidence=[one_line(f"no usable answer: {fault.complaint}")],
        directive=" ".join(parts),
        expected_gain=1.0,
        confidence=0.0,
        stop=False,
        by_rule=True,
    )
