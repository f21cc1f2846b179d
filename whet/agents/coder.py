"""The Coder: from the facts of a round to a prompt, and from its answer to a candidate."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

from whet.agents.advice import coder_advice
from whet.agents.answers import LABELS, THINKING, Answer, parse_answer
from whet.agents.kernels import coder_kernel
from whet.agents.models.base import Message, Model, ModelError, Reply, Request
from whet.agents.models.manual import tell_use
from whet.agents.room import BYTES_PER_TOKEN, fitted
from whet.agents.situation import Situation
from whet.agents.telling import shown, told
from whet.core.candidate import Candidate
from whet.core.patch import Malformed
from whet.core.task import Task
from whet.prompts import clip, render
from whet.sandbox.toolchains import native

Ask = Callable[[Model, Request], Reply]

ROOM = 8192
"""Tokens of an answer beside the file itself: the reasoning of models that reason counts as output."""
MANY_LINES = 300
"""A file that has more is better answered in parts."""
NOTHING = re.compile(r"\s*(?:[`'\"*]*nothing[`'\"*.]*\s*)?", re.IGNORECASE)
"""The answer of a model that has no rewrite to propose."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """What came of one question to the Coder: a candidate, or why there is none."""

    candidate: Candidate | None
    complaint: str = ""


def coder_request(facts: Situation) -> Request:
    """Returns the question of a round, for its first sample; what recurs from round to round comes first."""
    lines = facts.parent.source.count("\n")
    parts = {"last": facts.last, "complaints": facts.complaints, "many_lines": lines if lines > MANY_LINES else 0}
    parts |= {"kernel": coder_kernel(facts), "translated": facts.task.translated}
    parts |= {"focus": facts.focus, "partner": facts.partner}
    parts["language"] = native.language_of(facts.task, facts.partner.source) if facts.partner else ""
    known = (_system("translator_system" if facts.task.translated else "coder_system"), *told(facts, coder_advice))
    asked = fitted(
        known,
        facts.parent.source,
        len(facts.siblings),
        len(facts.earlier),
        lambda cut: render("coder_round", **parts, **shown(facts, cut)),
    )
    messages = (*known, Message("user", asked))
    size = len(facts.parent.source.encode("utf-8")) // BYTES_PER_TOKEN
    return Request("coder", messages, 0, ROOM + size, facts.brief())


@cache
def _system(template: str) -> Message:
    return Message("system", render(template, labels=LABELS), stable=True)


def propose(ask: Ask, model: Model, facts: Situation, request: Request) -> Proposal | None:
    """Asks for one candidate; None where the model has nothing to propose.

    An answer that cannot be read is sent back once with the complaint. A failure of the model costs this
    sample, unless it is one of all further calls too.

    Raises:
        ModelError: a fatal one.
        BudgetError: a cap does not allow the call.
    """
    try:
        reply = ask(model, request)
        answer = _read(reply, facts)
        if isinstance(answer, Malformed) and reply.stop != "refusal":
            tell_use(model, reply, f"read; it cannot be used, and is asked for once more: {answer.complaint}")
            reply = ask(model, repair_request(request, reply, "coder_repair", answer))
            answer = _read(reply, facts)
    except ModelError as error:
        if error.fatal:
            raise
        return Proposal(None, str(error))
    proposal = _proposal(answer, reply, facts)
    tell_use(model, reply, *_use_of(proposal))
    return proposal


def _use_of(proposal: Proposal | None) -> tuple[str, str]:
    """Returns what became of an answer, in words, and the id of its candidate."""
    if proposal is None:
        return "read; nothing to propose", ""
    if proposal.candidate is None:
        return f"read; it cannot be used: {proposal.complaint}", ""
    return "read; edits applied", proposal.candidate.id


def _proposal(answer: Answer | Malformed | None, reply: Reply, facts: Situation) -> Proposal | None:
    if answer is None:
        return None
    if isinstance(answer, Malformed):
        return Proposal(None, answer.complaint)
    origin = f"{reply.model}:{answer.edit}" if answer.edit else reply.model
    return Proposal(Candidate(answer.source, facts.parent.id, origin, answer.labels, answer.note))


def repair_request(request: Request, reply: Reply, template: str, fault: Malformed) -> Request:
    """Returns the further question that follows an answer that could not be read."""
    text, most = reply.text.strip(), request.max_tokens * BYTES_PER_TOKEN
    if len(text) > most:  # more than was asked for: a novel is not paid for twice
        text = clip(text, most)
    # An empty turn is refused by providers.
    said = Message("assistant", text or "(nothing)")
    complaint = Message("user", render(template, complaint=fault.complaint))
    return replace(request, messages=(*request.messages, said, complaint))


def _read(reply: Reply, facts: Situation) -> Answer | Malformed | None:
    if reply.stop == "end" and NOTHING.fullmatch(THINKING.sub("", reply.text, count=1)):
        return None
    if reply.stop == "refusal":
        return Malformed("the model refused to answer")
    if reply.stop == "length":
        return Malformed("the answer was cut off for its length; send only the changed parts")
    return parse_answer(reply.text, facts.parent.source, answer_language(facts.task), facts.task.filename)


def answer_language(task: Task) -> str:
    """Returns the language whose fenced blocks are taken for a task's file; ``native`` allows several."""
    return task.written if task.signature is None and task.reference is None else "native"
