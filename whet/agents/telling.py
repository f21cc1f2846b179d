"""How the agents are told of a task, of a version and of what was tried: the parts that both prompts share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

from whet.agents.experience import Recalled
from whet.agents.kernels import costs, device_lines
from whet.agents.models.base import Message
from whet.agents.person import SILENCE
from whet.agents.room import GENERATOR, SUPPORT, WHOLE, Cut
from whet.agents.situation import Situation
from whet.core.candidate import Candidate
from whet.core.circumstances import Circumstances
from whet.core.constraint import Constraint
from whet.core.profile import HotFunction, Profile
from whet.core.same import Same
from whet.core.task import Kind, Task
from whet.prompts import one_line, render
from whet.sandbox.toolchains import native

Advice = Callable[[str, str, Profile], str]
"""From the language, the text and the profile of a version to what an agent is told of patterns that may fit it."""

MOST_NAMED = 50
"""Files beside the target that are only named, as there is no room to show them. More cost tokens in each prompt; the
names together are cut at 2,000 characters as well."""
LONG_LINE = 200
"""Characters of a hot line or of a function's name."""
LEAST_SHARE = 0.01
"""Share of the time that a function takes by itself, from which the agents are told of it. A smaller value costs tokens
for functions where at most 1 % can be saved; a larger one hides some where more can be."""
MOST_FUNCTIONS = 8  # hot functions that are told, the hottest first; more cost tokens, fewer hide some that matter
COUNTED = {
    "function": "of a call",
    "method": "of making the object and calling its method",
    "program": "of the whole process, its start included",
    "memory": "the peak of a fresh process and of all that it starts",
}
"""What a metric is taken of."""


def told(facts: Situation, advice: Advice) -> tuple[Message, Message]:
    """Returns what an agent is told of the task and of the best version, the same bytes from call to call.

    Args:
        facts: of the round.
        advice: says what known patterns may fit the best version.
    """
    known = Same(facts.task, facts.parent, facts.profile, facts.best)
    task = _task(
        Same(facts.task, facts.place), facts.metric, facts.cores, facts.others, facts.constraints, facts.remembered
    )
    best = _best(known, facts.metric, advice, facts.leads)
    return Message("user", task, stable=True), Message("user", best, stable=True)


def shown(facts: Situation, cut: Cut = WHOLE) -> dict[str, Any]:
    """Returns what the templates of a round show beside the task and the best version."""
    siblings, others = facts.told_earlier(cut)
    return {
        "shown": facts.parent.id,
        "round": facts.round,
        "rounds": facts.rounds,
        "directive": facts.directive,
        "person": "" if facts.said == SILENCE else render("person", said=facts.said),
        "tried_before": [_tried(Same(record)) for record in others],
        "siblings": siblings,
        "outcome": _outcome,
        "change": partial(_change, cut),
    }


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
