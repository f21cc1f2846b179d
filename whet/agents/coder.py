"""The Coder: from the facts of a round to a prompt, and from its answer to a candidate."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from whet.agents.answers import LABELS, Answer, parse_answer
from whet.agents.models.base import Brief, Message, Model, ModelError, Reply, Request
from whet.core.candidate import Candidate
from whet.core.measurement import Speedup
from whet.core.patch import Malformed
from whet.core.profile import HotFunction, Profile
from whet.core.task import Task
from whet.prompts import render

Ask = Callable[[Model, Request], Reply]

ROOM = 8192
"""Tokens of an answer beside the file itself: the reasoning of models that reason counts as output."""
BYTES_PER_TOKEN = 3
SUPPORT = 20_000
"""Characters of other files that a prompt shows."""
MOST_NAMED = 50


@dataclass(frozen=True, slots=True)
class Situation:
    """The facts that a prompt of one round is built from; both agents are told the same.

    Attributes:
        task: what is to be made faster.
        metric: what counts: time, memory, ...
        cores: that a candidate may use.
        round: counted from 1.
        rounds: the most there will be.
        parent: the text to build upon.
        profile: of the parent.
        best: the parent's measured speedup; None where it is the baseline.
        directive: the Judge's last one, or an empty string.
        last: records of the last round's candidates, see `Evaluations.record`.
        earlier: records of the candidates before those, newest first.
        complaints: why answers of the last round could not be used.
        tried: ids of all candidates so far.
    """

    task: Task
    metric: str
    cores: int
    round: int
    rounds: int
    parent: Candidate
    profile: Profile
    best: Speedup | None
    directive: str = ""
    last: Sequence[Mapping[str, Any]] = ()
    earlier: Sequence[Mapping[str, Any]] = ()
    complaints: Sequence[str] = ()
    tried: tuple[str, ...] = ()

    def brief(self, verdicts: tuple[Mapping[str, Any], ...] = ()) -> Brief:
        """Returns the same facts for models that are programs."""
        return Brief(
            language=self.task.language,
            kind=self.task.kind.value,
            symbol=self.task.symbol,
            source=self.parent.source,
            hot=self.profile.lines,
            tried=self.tried,
            verdicts=verdicts,
        )

    def shown(self) -> dict[str, Any]:
        """Returns what several templates show."""
        return {
            "task": self.task,
            "metric": self.metric,
            "language": self.task.language,
            "round": self.round,
            "rounds": self.rounds,
            "source": self.parent.source,
            "best": self.best,
            "hot": self.profile.lines,
            "lines": "\n".join(
                f"{line.share:6.1%}  line {line.line}: {line.text.strip()}" for line in self.profile.lines
            ),
            "functions": "\n".join(map(_hot_function, self.profile.functions)),
            "measured": f"{self.profile.source}, {self.profile.unit}" if self.profile.unit else self.profile.source,
            "profile_note": self.profile.note,
            "directive": self.directive,
            "earlier": self.earlier,
        }


@dataclass(frozen=True, slots=True)
class Proposal:
    """What came of one question to the Coder: a candidate, or why there is none."""

    candidate: Candidate | None
    complaint: str = ""


def _hot_function(function: HotFunction) -> str:
    total = "" if function.total is None else f", {function.total:.1%} with what it calls"
    place = f"{function.file}:{function.line}" if function.line else function.file
    return f"{function.own:6.1%}  {function.name} ({place}){total}"


def coder_request(facts: Situation) -> Request:
    """Returns the question of a round, for its first sample; what recurs from round to round comes first."""
    shown = facts.shown()
    shown |= _support(facts.task)
    messages = (
        Message("system", render("coder_system", labels=LABELS), stable=True),
        Message("user", render("coder_task", cores=facts.cores, **shown), stable=True),
        Message("user", render("coder_parent", **shown), stable=True),
        Message("user", render("coder_round", last=facts.last, complaints=facts.complaints, **shown)),
    )
    size = len(facts.parent.source.encode("utf-8")) // BYTES_PER_TOKEN
    return Request("coder", messages, 0, ROOM + size, facts.brief())


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
        if not reply.text.strip() and reply.stop == "end":
            return None
        answer = _read(reply, facts)
        if isinstance(answer, Malformed) and reply.stop != "refusal":
            reply = ask(model, repair_request(request, reply, "coder_repair", answer))
            answer = _read(reply, facts)
    except ModelError as error:
        if error.fatal:
            raise
        return Proposal(None, str(error))
    if isinstance(answer, Malformed):
        return Proposal(None, answer.complaint)
    origin = f"{reply.model}:{answer.edit}" if answer.edit else reply.model
    return Proposal(Candidate(answer.source, facts.parent.id, origin, answer.labels, answer.note))


def repair_request(request: Request, reply: Reply, template: str, fault: Malformed) -> Request:
    """Returns the further question that follows an answer that could not be read."""
    # An empty turn is refused by providers.
    said = Message("assistant", reply.text.strip() or "(nothing)")
    complaint = Message("user", render(template, complaint=fault.complaint))
    return replace(request, messages=(*request.messages, said, complaint))


def _support(task: Task) -> dict[str, Any]:
    """Returns what is shown of the files beside the target: as many as there is room for, and more names."""
    shown: dict[str, str] = {}
    named: list[str] = []
    room = SUPPORT
    for name, text in task.support.items():
        if name == task.filename:
            continue
        if len(text) <= room:
            shown[name] = text
            room -= len(text)
        else:
            named.append(name)
    return {"support": shown, "named": named[:MOST_NAMED]}


def _read(reply: Reply, facts: Situation) -> Answer | Malformed:
    if reply.stop == "refusal":
        return Malformed("the model refused to answer")
    if reply.stop == "length":
        return Malformed("the answer was cut off for its length; send only the changed parts")
    return parse_answer(reply.text, facts.parent.source, facts.task.language)
