"""The Coder: from the facts of a round to a prompt, and from its answer to a candidate."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache, partial
from typing import Any

from whet.agents.advice import coder_advice
from whet.agents.answers import LABELS, THINKING, Answer, parse_answer
from whet.agents.experience import Recalled
from whet.agents.kernels import coder_kernel, costs, device_lines
from whet.agents.models.base import Attempt, Brief, Message, Model, ModelError, Reply, Request
from whet.agents.models.manual import tell_use
from whet.agents.person import SILENCE, Said
from whet.agents.room import BYTES_PER_TOKEN, GENERATOR, SUPPORT, WHOLE, Cut, fitted
from whet.agents.siblings import Sibling
from whet.core.candidate import Candidate
from whet.core.circumstances import Circumstances
from whet.core.constraint import Constraint
from whet.core.measurement import Speedup
from whet.core.patch import Malformed
from whet.core.profile import HotFunction, HotLine, Profile
from whet.core.same import Same
from whet.core.task import Kind, Task
from whet.prompts import clip, one_line, render
from whet.sandbox.toolchains import native

Ask = Callable[[Model, Request], Reply]
Advice = Callable[[str, str, Profile], str]
"""From the language, the text and the profile of a version to what an agent is told of patterns that may fit it."""

ROOM = 8192
"""Tokens of an answer beside the file itself: the reasoning of models that reason counts as output."""
MOST_NAMED = 50
LONG_LINE = 200
"""Characters of a hot line or of a function's name."""
LEAST_SHARE = 0.01
MOST_FUNCTIONS = 8
MANY_LINES = 300
"""A file that has more is better answered in parts."""
COUNTED = {
    "function": "of a call",
    "method": "of making the object and calling its method",
    "program": "of the whole process, its start included",
    "memory": "the peak of a fresh process and of all that it starts",
}
"""What a metric is taken of."""
NOTHING = re.compile(r"\s*(?:[`'\"*]*nothing[`'\"*.]*\s*)?", re.IGNORECASE)
"""The answer of a model that has no rewrite to propose."""


@dataclass(frozen=True, slots=True)
class Partner:
    """Another version, to be joined with the parent.

    Attributes:
        source: its text.
        record: what became of it, see `Evaluations.record`.
    """

    source: str
    record: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Situation:
    """The facts that a prompt of one round is built from; both agents are told the same.

    Attributes:
        task: what is to be made faster.
        metric: what counts: time, memory, ...
        cores: that a candidate may use.
        place: where candidates run, and on what.
        round: counted from 1.
        rounds: the most there will be.
        parent: the text to build upon.
        profile: of the parent.
        best: the parent's measured speedup; None where it is the baseline.
        leads: whether the parent is the best so far.
        directive: the Judge's last one, or an empty string.
        focus: the hot line to work on; None leaves it open.
        partner: another version, to be joined with the parent; None for none.
        last: records of the last round's candidates, see `Evaluations.record`.
        earlier: records of the candidates before those, newest first.
        siblings: of all before the last round, those that are worth a look.
        complaints: why answers of the last round could not be used.
        tried: ids of all candidates so far.
        built: evidence of the parent's build.
        said: what a person who takes part said so far.
        remembered: what earlier runs found out about code like this.
        others: metrics that are improved too where that costs nothing in the one that counts.
        constraints: that a candidate has to keep.
    """

    task: Task
    metric: str
    cores: int
    place: Circumstances
    round: int
    rounds: int
    parent: Candidate
    profile: Profile
    best: Speedup | None
    leads: bool = True
    directive: str = ""
    focus: HotLine | None = None
    partner: Partner | None = None
    last: Sequence[Mapping[str, Any]] = ()
    earlier: Sequence[Mapping[str, Any]] = ()
    siblings: Sequence[Sibling] = ()
    complaints: Sequence[str] = ()
    tried: tuple[str, ...] = ()
    built: Mapping[str, Any] = field(default_factory=dict)
    said: Said = SILENCE
    remembered: tuple[Recalled, ...] = ()
    others: tuple[str, ...] = ()
    constraints: tuple[Constraint, ...] = ()

    def brief(self, verdicts: tuple[Mapping[str, Any], ...] = ()) -> Brief:
        """Returns the same facts for models that are programs."""
        language, source = native.language_of(self.task, self.parent.source), self.parent.source
        hot = self.profile.lines
        if self.task.reference is not None and language == "asm":  # known edits are of C
            (source, language), hot = self.task.original, ()
        return Brief(
            language=language,
            kind=self.task.kind.value,
            symbol=self.task.symbol,
            source=source,
            hot=hot,
            tried=self.tried,
            attempts=_attempts([*(verdicts or self.last), *self.earlier]),
            verdicts=verdicts,
            signature=self.task.signature,
            open_flags=native.TUNED in native.variants(self.task),
            isa=self.task.isa,
            features=self.task.features,
        )

    def shown(self, cut: Cut = WHOLE) -> dict[str, Any]:
        """Returns what the templates of a round show beside the task and the best version."""
        siblings, others = self.told_earlier(cut)
        return {
            "shown": self.parent.id,
            "round": self.round,
            "rounds": self.rounds,
            "directive": self.directive,
            "person": "" if self.said == SILENCE else render("person", said=self.said),
            "tried_before": [_tried(Same(record)) for record in others],
            "siblings": siblings,
            "outcome": _outcome,
            "change": partial(_change, cut),
        }

    def told_earlier(self, cut: Cut = WHOLE) -> tuple[Sequence[Sibling], Sequence[Mapping[str, Any]]]:
        """Returns what a prompt tells of the candidates before the last round: whole, and those in a line each."""
        siblings = self.siblings[: cut.siblings]
        told = {self.parent.id, *(sibling.record["candidate"] for sibling in siblings)}
        return siblings, [record for record in self.earlier if record["candidate"] not in told][: cut.tried]

    def told(self, advice: Advice) -> tuple[Message, Message]:
        """Returns what an agent is told of the task and of the best version, the same bytes from call to call.

        Args:
            advice: says what known patterns may fit the best version.
        """
        known = Same(self.task, self.parent, self.profile, self.best)
        return (
            Message(
                "user",
                _task(
                    Same(self.task, self.place), self.metric, self.cores, self.others, self.constraints, self.remembered
                ),
                stable=True,
            ),
            Message("user", _best(known, self.metric, advice, self.leads), stable=True),
        )


def _attempts(records: Sequence[Mapping[str, Any]]) -> tuple[Attempt, ...]:
    """Returns what records say of candidates; a parent that is not among them is taken for the original."""
    known = {record["candidate"]: record for record in records}
    return tuple(_attempt(record, known.get(record["parent"])) for record in records)


def _attempt(record: Mapping[str, Any], parent: Mapping[str, Any] | None) -> Attempt:
    low, high = (parent["low"], parent["high"]) if parent and parent["ratio"] is not None else (1.0, 1.0)
    ratios = (None, None) if record["ratio"] is None else (record["low"] / high, record["high"] / low)
    return Attempt(record["origin"], record["note"], record["correct"], *ratios)


@lru_cache(maxsize=256)
def _tried(record: Same) -> str:
    return render("tried", record=record.objects[0], outcome=_outcome)


def _outcome(record: Mapping[str, Any]) -> str:
    return _came_to(Same(record))


# The Judge is told, then the Coder, then both in the list of what was tried.
@lru_cache(maxsize=64)
def _came_to(record: Same) -> str:
    return render("outcome", record=record.objects[0])


def _change(cut: Cut, record: Mapping[str, Any], shown: str | None) -> str:
    return _changed(Same(record), record["candidate"] == shown, cut)


@lru_cache(maxsize=64)
def _changed(record: Same, best: bool, cut: Cut) -> str:
    text = render("change", record=record.objects[0], best=best, cut=cut)
    return f"{text}\n\n" if text else ""


@lru_cache(maxsize=4)
def _task(
    known: Same,
    metric: str,
    cores: int,
    others: tuple[str, ...],
    constraints: tuple[Constraint, ...],
    remembered: tuple[Recalled, ...],
) -> str:
    task, place = known.objects
    assert isinstance(task, Task)
    assert isinstance(place, Circumstances)
    cases = sorted(task.workload.cases, key=lambda case: len(case.stdin))
    told = render(
        "task",
        task=task,
        metric=metric,
        cores=cores,
        counted=_counted(task, metric),
        others=others,
        constraints=constraints,
        place=place,
        versions=_versions(place),
        machine=_machine(place),
        shortest=cases[0] if cases else None,
        device=device_lines(place, cores),
        costs=costs(place),
        generator=GENERATOR,
        **shown_support(task),
    )
    if not remembered:
        return told
    return f"{told}\n\n{render('remembered', remembered=remembered, processor=place.processor)}"


@lru_cache(maxsize=16)
def _best(known: Same, metric: str, advice: Advice, leads: bool) -> str:
    task, parent, profile, best = known.objects
    assert isinstance(task, Task)
    assert isinstance(parent, Candidate)
    assert isinstance(profile, Profile)
    return render(
        "parent",
        metric=metric,
        language=native.language_of(task, parent.source),
        source=parent.source,
        best=best,
        leads=leads,
        hot=profile.lines,
        lines="\n".join(
            f"{line.share:6.1%}  line {line.line}: {one_line(line.text, LONG_LINE)}" for line in profile.lines
        ),
        functions=_hot_functions(profile.functions),
        measured=f"{profile.source}, {profile.unit}" if profile.unit else profile.source,
        profile_note=profile.note,
        model=profile.model,
        advice="" if task.translated else advice(native.language_of(task, parent.source), parent.source, profile),
        translated=task.translated,
    )


def _counted(task: Task, metric: str) -> str:
    if metric == "memory":
        return COUNTED["memory"]
    if task.kind is Kind.PROGRAM:
        return COUNTED["program"]
    return COUNTED["method" if "." in (task.symbol or "") else "function"]


@dataclass(frozen=True, slots=True)
class Proposal:
    """What came of one question to the Coder: a candidate, or why there is none."""

    candidate: Candidate | None
    complaint: str = ""


def _hot_functions(functions: Sequence[HotFunction]) -> str:
    hot = [function for function in functions if function.own >= LEAST_SHARE][:MOST_FUNCTIONS]
    # A single one says no more than its lines.
    return "\n".join(map(_hot_function, hot)) if len(hot) > 1 else ""


def _hot_function(function: HotFunction) -> str:
    total = "" if function.total is None else f", {function.total:.1%} with what it calls"
    # Where a library stands on this machine tells nothing, and may tell whose machine it is.
    file = "/".join(function.file.rsplit("/", 2)[-2:])
    place = f"{file}:{function.line}" if function.line else file
    return f"{function.own:6.1%}  {one_line(function.name, LONG_LINE)} ({one_line(place, LONG_LINE)}){total}"


def _versions(place: Circumstances) -> str:
    packages = ", ".join(f"{name} {version}" for name, version in sorted(place.packages.items()))
    return packages and f" ({packages})"


def _machine(place: Circumstances) -> str:
    sizes = (f"{name} {size / 1024:g} KiB" for name, size in sorted(place.caches.items()))
    return ", ".join((place.processor, *sizes))


def coder_request(facts: Situation) -> Request:
    """Returns the question of a round, for its first sample; what recurs from round to round comes first."""
    lines = facts.parent.source.count("\n")
    shown = {"last": facts.last, "complaints": facts.complaints, "many_lines": lines if lines > MANY_LINES else 0}
    shown |= {"kernel": coder_kernel(facts), "translated": facts.task.translated}
    shown |= {"focus": facts.focus, "partner": facts.partner}
    shown["language"] = native.language_of(facts.task, facts.partner.source) if facts.partner else ""
    known = (_system("translator_system" if facts.task.translated else "coder_system"), *facts.told(coder_advice))
    asked = fitted(
        known,
        facts.parent.source,
        len(facts.siblings),
        len(facts.earlier),
        lambda cut: render("coder_round", **shown, **facts.shown(cut)),
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


def shown_support(task: Task) -> dict[str, Any]:
    """Returns what is shown of the files beside the target: as many as there is room for, and more names."""
    shown: dict[str, str] = {}
    named: list[str] = []
    room = SUPPORT
    for name, text in task.support.items():
        if name in (task.filename, *task.others):
            continue
        if len(text) <= room:
            shown[name] = text
            room -= len(text)
        else:
            named.append(name)
    return {"support": shown, "named": named[:MOST_NAMED]}


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
