"""From the store to tasks with all that was judged of them.

What is read here is kept by name: ids, figures and texts. Seeds, options, folders and what was said in errors stay in
the store. A text that names a folder of this machine, or holds what looks like a key, is left out as a whole: its id
and its verdict are of its exact bytes, so that it cannot be mended.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from whet.agents.evaluations import CANDIDATE, PROFILE, VERDICT
from whet.agents.learning.answers import question
from whet.agents.learning.records import Judgement, Overhead, Overheads, RunTold, Subject
from whet.agents.learning.rewards import NO_GAIN, outcome_of, reward_of, was_compared
from whet.core.candidate import Candidate, content_id
from whet.core.plain import from_plain
from whet.core.profile import Profile
from whet.core.redaction import redacted
from whet.core.store import RunRecord, Store
from whet.core.task import Task
from whet.core.verdict import Verdict
from whet.evaluators.evidence.record import WEB_ADDRESS, recorded_task, without_paths

STAGES = ("confirm", "measure", "check")
"""Of verdicts, the fullest first."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A text, what was found of it, and what it takes."""

    source: str
    judgement: Judgement
    overheads: Overheads


@dataclass(slots=True)
class TaskHistory:
    """One task with all candidates of all runs on it.

    Attributes:
        task: the newest of these runs' tasks.
        subject: what lines tell of it.
        prompt: what its candidates answer.
        judged: the candidates by id; the original is not among them.
        runs: that anything in it comes from, by id.
    """

    task: Task
    subject: Subject
    prompt: str
    judged: dict[str, Judged] = field(default_factory=dict)
    runs: dict[str, RunTold] = field(default_factory=dict)

    @property
    def ranked(self) -> list[Judged]:
        """The candidates, best first; equal ones by their ids."""
        return sorted(self.judged.values(), key=lambda one: (-one.judgement.reward, one.judgement.id))

    @property
    def original(self) -> Judged:
        """The text that was to be improved: right, and no gain."""
        judgement = Judgement(
            id=self.subject.baseline,
            origin="baseline",
            labels=(),
            outcome="not_shown",
            rung=None,
            reason=None,
            reward=NO_GAIN,
            ratio=None,
            low=None,
            high=None,
            confirmed=False,
            run=next(iter(self.runs)),
        )
        return Judged(self.task.source, judgement, Overheads(None, None, None))


@dataclass(frozen=True, slots=True)
class Gathered:
    """What was found in some runs.

    Attributes:
        groups: in the order of the runs.
        empty: ids of the runs that hold no candidate that was judged.
        private: how many texts were left out for a folder or a key in them.
    """

    groups: tuple[TaskHistory, ...]
    empty: tuple[str, ...]
    private: int


def gather(store: Store, records: Iterable[RunRecord]) -> Gathered:
    """Reads runs, the newest first; of a text that several of them judged, the first verdict counts."""
    groups: dict[Subject, TaskHistory] = {}
    empty: list[str] = []
    private: set[str] = set()
    for record in records:
        facts = store.facts(record.id)
        verdicts = dict(_verdicts(facts))
        if not verdicts:
            empty.append(record.id)
            continue
        task = recorded_task(store, record.id)
        subject = _subject(task, record)
        prompt = question(task, subject.metric)
        if is_private(task, prompt):
            private.add(subject.baseline)
            continue
        group = groups.setdefault(subject, TaskHistory(task, subject, prompt))
        for id, verdict in verdicts.items():
            if id in group.judged or id == subject.baseline:
                continue
            source = store.get(id)
            if is_private(task, source):
                private.add(id)
                continue
            known = facts[CANDIDATE.format(id)]
            candidate = Candidate(source, known["parent"], known["origin"], tuple(known["labels"]))
            judgement = _judgement(candidate, verdict, record.id, task)
            group.judged[id] = Judged(source, judgement, _overheads(facts, subject.baseline, candidate, verdict))
            group.runs.setdefault(record.id, _told(record))
    return Gathered(tuple(group for group in groups.values() if group.judged), tuple(empty), len(private))


def is_private(task: Task, text: str) -> bool:
    """Whether a text names a folder of the user, or holds what looks like a key."""
    return bool(without_paths(text, task) != text or redacted(text) != text)


def _verdicts(facts: Mapping[str, Any]) -> Iterable[tuple[str, Verdict]]:
    """Yields the fullest verdict on each candidate, by id; a run of `verify` has one, under no stage.

    A candidate that was not run beside the original is left out: nothing can be learned from it.
    """
    for name in facts:
        prefix, _, id = name.partition(":")
        if prefix != "candidate":
            continue
        names = (*(VERDICT.format(id, stage) for stage in STAGES), f"verdict:{id}")
        if found := next((facts[name] for name in names if name in facts), None):
            verdict = from_plain(Verdict, found)
            if verdict.rejected or was_compared(verdict):
                yield id, verdict


def _subject(task: Task, record: RunRecord) -> Subject:
    return Subject(
        name=without_paths(task.name, task),
        language=task.written or task.language,
        filename=task.filename,
        symbol=task.symbol,
        metric=record.request["options"]["metric"],
        baseline=content_id(task.source),
    )


def _judgement(candidate: Candidate, verdict: Verdict, run: str, task: Task) -> Judgement:
    fallen = verdict.failed if verdict.rejected else None
    measured = verdict.measurement if verdict.correct else None
    speedup = measured.speedup if measured is not None else None
    return Judgement(
        id=candidate.id,
        origin=redacted(without_paths(WEB_ADDRESS.sub("", candidate.origin), task)),
        labels=(measured.labels if measured is not None else ()) or candidate.labels,
        outcome=outcome_of(verdict),
        rung=fallen.name if fallen else None,
        reason=fallen.reason.value if fallen and fallen.reason else None,
        reward=reward_of(verdict),
        ratio=speedup.ratio if speedup else None,
        low=speedup.low if speedup else None,
        high=speedup.high if speedup else None,
        confirmed=verdict.confirmed,
        run=run,
    )


def _overheads(facts: Mapping[str, Any], baseline: str, candidate: Candidate, verdict: Verdict) -> Overheads:
    speedup = verdict.measurement.speedup if verdict.measurement is not None else None
    return Overheads(
        baseline=_overhead(facts.get(PROFILE.format(baseline))),
        solution=_overhead(facts.get(PROFILE.format(candidate.id))),
        cpu_seconds=speedup.cpu_seconds if speedup is not None else None,
    )


def _overhead(fact: Any) -> Overhead | None:
    """Returns a profile without its functions and notes: these name files of libraries on this machine."""
    profile = from_plain(Profile, fact) if fact is not None else None
    if profile is None or not (profile.lines or profile.memory):
        return None
    memory = profile.memory
    return Overhead(
        source=profile.source,
        unit=profile.unit,
        lines=profile.lines,
        peak_bytes=memory.peak_bytes if memory else None,
        memory=memory.lines if memory else (),
    )


def _told(record: RunRecord) -> RunTold:
    started = datetime.fromtimestamp(record.started, UTC).isoformat(timespec="seconds")
    return RunTold(record.id, record.command, started)
