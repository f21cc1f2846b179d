"""The Judge: from the verdicts of a round to one diagnosis and one directive. It never touches a verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from whet.agents.answers import LONGEST
from whet.agents.coder import Ask, Situation, repair_request
from whet.agents.models.base import Message, Model, ModelError, Reply, Request
from whet.core.config import describe_invalid
from whet.core.measurement import BETTER
from whet.core.patch import Malformed
from whet.prompts import one_line, render

ROOM = 4096
"""Tokens of an answer."""

Records = Sequence[Mapping[str, Any]]


class Diagnosis(BaseModel):
    """What the Judge makes of a round.

    Attributes:
        bottleneck: what takes the time in the best version.
        evidence: figures or lines that show it.
        directive: what the Coder shall change next.
        expected_gain: speedup over the best version that it should bring.
        confidence: 0 to 1.
        stop: whether nothing worth trying is left.
    """

    model_config = ConfigDict(frozen=True)

    bottleneck: str = Field(max_length=2000)
    evidence: list[str] = Field(max_length=50)
    directive: str = Field(max_length=4000)
    expected_gain: float = Field(ge=0, allow_inf_nan=False)
    confidence: float = Field(ge=0, le=1)
    stop: bool


def judge_request(facts: Situation, records: Records) -> Request:
    """Returns the question about one round."""
    messages = (
        Message("system", render("judge_system"), stable=True),
        Message("user", render("judge_round", records=records, **facts.shown())),
    )
    return Request("judge", messages, facts.round, ROOM, facts.brief(tuple(records)))


def diagnose(ask: Ask, model: Model, facts: Situation, records: Records) -> Diagnosis:
    """Asks the Judge about a round.

    An answer that cannot be read is sent back once; after that, or where the model fails, a diagnosis is
    drawn from the verdicts alone.

    Raises:
        BudgetError: a cap does not allow the call.
    """
    request = judge_request(facts, records)
    try:
        reply = ask(model, request)
        diagnosis = read_diagnosis(reply)
        if isinstance(diagnosis, Malformed):
            diagnosis = read_diagnosis(ask(model, repair_request(request, reply, "judge_repair", diagnosis)))
    except ModelError as error:
        diagnosis = Malformed(str(error))
    return neutral(facts, records, diagnosis) if isinstance(diagnosis, Malformed) else diagnosis


def read_diagnosis(reply: Reply) -> Diagnosis | Malformed:
    """Returns the diagnosis in an answer, which may stand in a fence or between other text."""
    text = reply.text
    begin, end = text.find("{"), text.rfind("}")
    if not 0 <= begin < end:
        return Malformed("no JSON object was found")
    if len(text) > LONGEST:
        return Malformed("the answer is too long")
    try:
        return Diagnosis.model_validate_json(text[begin : end + 1].encode("utf-8", "replace"))
    except ValidationError as error:
        return Malformed(one_line(describe_invalid(error, Diagnosis)))


def neutral(facts: Situation, records: Records, fault: Malformed) -> Diagnosis:
    """Returns a diagnosis that holds no opinion, only what the verdicts and the profile say."""
    wrong = sorted({f"{record['reason']} at {record['rung']}" for record in records if not record["correct"]})
    hot = facts.profile.lines[:3]
    parts = ["The Judge gave no usable answer; this is drawn from the verdicts alone."]
    if wrong:
        parts.append(f"Rewrites were rejected ({', '.join(wrong)}): keep the behaviour exactly.")
    if any(record["correct"] and not record["improved"] for record in records):
        parts.append(f"What was right was not {BETTER[facts.metric]}: try another way.")
    if hot:
        parts.append(f"Most time goes to {', '.join(f'line {line.line}' for line in hot)}.")
    return Diagnosis(
        bottleneck=f"line {hot[0].line} takes {hot[0].share:.0%} of the time" if hot else "not known",
        evidence=[one_line(f"no usable answer: {fault.complaint}")],
        directive=" ".join(parts),
        expected_gain=1.0,
        confidence=0.0,
        stop=False,
    )
