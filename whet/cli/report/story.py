"""What a report tells of a run, drawn from its record: its candidates, its rounds, its end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from whet.agents.diagnosis import Diagnosis
from whet.agents.history import CAP, Round
from whet.agents.predictions import PREDICTION, Prediction, Record
from whet.benchmarks.pages.texts import Diff, read_diff, shown_times
from whet.cli import transcript
from whet.cli.render import HEADLINE
from whet.cli.report.commands import ShellLines, commands
from whet.core.candidate import Candidate
from whet.core.evidence import Provenance
from whet.core.measurement import Measurement, Outcome, Speedup, gain_in
from whet.core.plain import from_plain
from whet.core.result import Cost, Status
from whet.core.store import RunRecord, Store
from whet.core.task import Task
from whet.core.verdict import Rung, Verdict
from whet.evaluators.evidence.record import WEB_ADDRESS, recorded_task, without_paths

ROOM = 170_000
"""Bytes for all diffs but that of the result; each candidate has an equal part."""
LONGEST_DIFF = 20_000
"""Bytes of HTML of one candidate's diff where few candidates share `ROOM`; further lines are left out, and counted. It
binds below nine candidates; a larger value shows more of those, a smaller one less."""
RESULT_DIFF = 40_000
"""Bytes of HTML of the result's diff, beside `ROOM`: the change that a reader applies gets twice the room of another. A
larger value makes the page larger by as much, a smaller one cuts long results."""
WORDS = {Outcome.NOT_SHOWN: "no gain shown", Outcome.SLOWER: "worse"}


@dataclass(frozen=True, slots=True)
class CandidateStory:
    """One candidate.

    Attributes:
        number: in the order of the record, from 1.
        id: of its text.
        parent: number of the candidate that it was made from; 0 for the original, None where nobody knows.
        origin: who made it.
        note: its author's reason.
        labels: found, else claimed.
        rungs: those that it climbed.
        measured: what was found when it was first timed.
        confirmed: what the confirm rung found, where that was reached.
        outcome: what became of it, in a few words.
        counts: whether it was shown better, and nothing found later speaks against that.
        kind: winner, better, timed, wrong or open.
        diff: against its parent.
    """

    number: int
    id: str
    parent: int | None
    origin: str
    note: str
    labels: tuple[str, ...]
    rungs: tuple[Rung, ...]
    measured: Measurement | None
    confirmed: Measurement | None
    outcome: str
    counts: bool
    kind: str
    diff: Diff

    @property
    def last(self) -> Measurement | None:
        """What was found when it was last timed."""
        return self.confirmed or self.measured


@dataclass(frozen=True, slots=True)
class RoundStory:
    """One round: what it was built upon, what came of it, and what the Judge said; no number for what is in none.

    ``foreseen`` is what the Judge expected of this round.
    """

    number: int | None
    upon: int | None
    proposed: int
    complaints: tuple[str, ...]
    trials: tuple[CandidateStory, ...]
    diagnosis: Diagnosis | None
    foreseen: Prediction | None


@dataclass(frozen=True, slots=True)
class ModelUsage:
    """What one model was asked in one role, and what that cost."""

    role: str
    model: str
    calls: int
    failed: int
    input: int
    cached: int
    output: int
    usd: float
    priced: bool
    seconds: float


@dataclass(frozen=True, slots=True)
class Story:
    """All that a report tells.

    Attributes:
        run: id of the run.
        command: optimize or verify.
        target: as a user writes it, without the folder that it is in.
        name: of the task; empty where it says no more than the target.
        status: running, interrupted or finished.
        headline: what came of it.
        message: one line on why; empty before the end.
        verified: whether there is a winner.
        began: when.
        known: when the last thing in the record happened.
        result: the document of the end, if there is one.
        subject: the candidate that the result is about.
        change: of that candidate against the original.
        turns: the rounds.
        foreseen: all that the Judge expected, and what came of it.
        asked: by role and model.
        cost: what all calls came to.
        prices: by model.
        caps: lines of the caps that ended something.
        request: what was asked for.
        provenance: machine, toolchain, sandbox and tools.
        commands: that repeat it.
    """

    run: str
    command: str
    target: str
    name: str
    status: str
    headline: str
    message: str
    verified: bool
    began: datetime
    known: datetime
    result: Mapping[str, Any] | None
    subject: CandidateStory | None
    change: Diff | None
    turns: tuple[RoundStory, ...]
    foreseen: Record
    asked: tuple[ModelUsage, ...]
    cost: Cost
    prices: Mapping[str, Any]
    caps: tuple[str, ...]
    request: Mapping[str, Any]
    provenance: Provenance | None
    commands: tuple[ShellLines, ...]

    @property
    def trials(self) -> tuple[CandidateStory, ...]:
        """All candidates, in their order."""
        return tuple(trial for turn in self.turns for trial in turn.trials)

    @property
    def best(self) -> CandidateStory | None:
        """The candidate with the best ratio of those that were shown better."""
        better = [trial for trial in self.trials if trial.counts and trial.measured]
        return max(better, key=lambda trial: trial.measured.speedup.ratio if trial.measured else 0.0, default=None)

    @property
    def speedup(self) -> Speedup | None:
        """The figures of the result; None where nothing was timed, or the rewrite is wrong."""
        timed = self.subject.last if self.subject is not None else None
        return timed.speedup if timed is not None and self.result and self.result["speedup"] else None


def story(store: Store, record: RunRecord) -> Story:
    """Returns what a report tells of a run, be it over or not. Folders of the machine are not in it."""
    told = transcript.shown(store, record)
    calls = [_unread(event) for event in told["events"] if event["event"] == "call"]
    facts = {event["name"]: event["value"] for event in told["events"] if event["event"] == "fact"}
    task = recorded_task(store, record.id) if facts.pop("task", None) is not None else None
    result, request = record.result, {**record.request, **_models(record.request, "model", "judge_model", "takeover")}
    if task is not None:
        facts, calls, result, request = (without_paths(part, task) for part in (facts, calls, result, request))
    improved = result is not None and result["status"] == Status.IMPROVED
    trials = _trials(store, task, facts, told["winner"] if improved else None)
    subject = next((trial for trial in trials.values() if trial.id == told["winner"]), None)
    target = _target(task) if task is not None else record.target.rsplit("/", 1)[-1]
    known = facts.get("provenance")
    turns = tuple(_turns(facts, trials, task))
    return Story(
        run=record.id,
        command=record.command,
        target=target,
        name=task.name if task and task.name not in (task.symbol, task.path.stem) else "",
        status=record.status,
        headline=_headline(record.status, result, subject),
        message=_nowhere(result["message"]) if result is not None else "",
        verified=improved,
        began=datetime.fromtimestamp(record.started, UTC),
        known=datetime.fromtimestamp(max((event["at"] for event in told["events"]), default=record.started), UTC),
        result=result,
        subject=subject,
        change=read_diff(result["candidate"]["diff"], RESULT_DIFF) if result and result["candidate"] else None,
        turns=turns,
        foreseen=Record(tuple(turn.foreseen for turn in turns if turn.foreseen is not None)),
        asked=tuple(_asked(calls)),
        cost=from_plain(Cost, told["cost"]),
        prices={_nowhere(model): price for model, price in told["prices"].items()},
        caps=tuple(str(line) for name, line in facts.items() if name.startswith(CAP)),
        request=request,
        provenance=None if known is None else from_plain(Provenance, known),
        commands=tuple(commands(record, target, request, evidence=subject is not None and known is not None)),
    )


def _unread(call: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a call without what was said in it, which is larger than all else."""
    return {name: value for name, value in call.items() if name not in ("prompt", "reply")} | _models(call, "model")


def _models(table: Mapping[str, Any], *names: str) -> dict[str, str]:
    return {name: _nowhere(table[name]) for name in names if name in table}


def _nowhere(model: str) -> str:
    """Returns a model's name without the address of its server, as evidence names it."""
    return WEB_ADDRESS.sub("", model)


def _target(task: Task) -> str:
    return f"{task.filename}::{task.symbol}" if task.symbol else task.filename


def _headline(status: str, result: Mapping[str, Any] | None, subject: CandidateStory | None) -> str:
    if result is None:
        return "Under way; nothing is confirmed yet" if status == "running" else "Interrupted; nothing is confirmed"
    if result["status"] == Status.BASELINE_INVALID:
        return "The baseline cannot be used"
    if result["status"] == Status.IMPROVED and result["speedup"] is not None:
        speedup = result["speedup"]
        return f"{shown_times(speedup['ratio'])} {gain_in(speedup['metric'])}, verified"
    return HEADLINE[Status(result["status"])].capitalize()


def _trials(store: Store, task: Task | None, facts: Mapping[str, Any], winner: str | None) -> dict[str, CandidateStory]:
    known = {
        name.partition(":")[2]: from_plain(Candidate, value)
        for name, value in facts.items()
        if name.startswith("candidate:")
    }
    if task is None or not known:
        return {}
    original = Candidate(task.source)
    numbers = {original.id: 0} | {id: number for number, id in enumerate(known, 1)}
    sources = {original.id: task.source} | {id: store.get(id) for id in known}
    room = min(LONGEST_DIFF, ROOM // len(known))
    trials = {}
    for id, candidate in known.items():
        parent = candidate.parent if candidate.parent in sources else None
        text = Candidate(sources[id]).diff(sources[parent or original.id], task.filename)
        found = _CandidateResults.of(id, facts)
        trials[id] = CandidateStory(
            number=numbers[id],
            id=id,
            parent=None if parent is None else numbers[parent],
            origin=_nowhere(candidate.origin),
            note=candidate.note,
            labels=(found.confirmed.labels if found.confirmed else ()) or candidate.labels,
            rungs=found.verdict.rungs if found.verdict else (),
            measured=found.measured,
            confirmed=found.confirmed,
            outcome=found.words(id == winner),
            counts=found.verdict is not None and found.verdict.improved,
            kind="winner" if id == winner else found.kind,
            diff=read_diff(text, room),
        )
    return trials


@dataclass(frozen=True, slots=True)
class _CandidateResults:
    """What is known of a candidate: its last verdict, and what each of its two measurements found."""

    verdict: Verdict | None
    measured: Measurement | None
    confirmed: Measurement | None

    @classmethod
    def of(cls, id: str, facts: Mapping[str, Any]) -> _CandidateResults:
        stages = [facts.get(f"verdict:{id}{end}") for end in (":check", ":measure", ":confirm", "")]
        verdicts = [None if fact is None else from_plain(Verdict, fact) for fact in stages]
        last = next((verdict for verdict in reversed(verdicts) if verdict is not None), None)
        first = next((verdict.measurement for verdict in verdicts if verdict and verdict.measurement), None)
        reached = last is not None and last.rung("confirm") is not None
        return cls(last, first, last.measurement if last is not None and reached else None)

    @property
    def kind(self) -> str:
        if self.verdict is None:
            return "open"
        if self.verdict.rejected:
            return "wrong"
        return "better" if self.verdict.improved else "timed" if self.measured else "open"

    def words(self, won: bool) -> str:
        verdict = self.verdict
        if verdict is None:
            return "not judged"
        failed = verdict.failed
        if verdict.undecided is not None:
            return "not decided: the baseline failed or differed from itself"
        if verdict.rejected:
            return f"rejected: {_words(failed)}"
        if failed is not None and failed.name == "confirm":
            return f"not confirmed: {_words(failed)}"
        if verdict.measurement is None:
            return "right, not timed"
        if not verdict.improved:
            return WORDS.get(verdict.measurement.outcome) or _words(failed)
        better = gain_in(verdict.measurement.speedup.metric)
        return f"{better}, confirmed" if won or verdict.confirmed else better


def _words(failed: Rung | None) -> str:
    return str(failed.reason).replace("_", " ") if failed is not None else ""


def _turns(facts: Mapping[str, Any], trials: Mapping[str, CandidateStory], task: Task | None) -> Iterator[RoundStory]:
    """Yields the rounds, and last what stands in none: a rewrite that was judged alone, or a round under way."""
    original = Candidate(task.source).id if task is not None else ""
    left = dict(trials)
    rounds = sorted((int(name.removeprefix("round:")), value) for name, value in facts.items() if "round:" in name)
    for number, value in rounds:
        turn = from_plain(Round, value)
        said, foreseen = facts.get(f"diagnosis:{number}"), facts.get(f"{PREDICTION}{number}")
        upon = trials.get(turn.parent)
        yield RoundStory(
            number=number,
            upon=0 if turn.parent == original else upon.number if upon else None,
            proposed=turn.proposed,
            complaints=turn.complaints,
            trials=tuple(left.pop(id) for id in turn.batch if id in left),
            diagnosis=None if said is None else from_plain(Diagnosis, said),
            foreseen=None if foreseen is None else from_plain(Prediction, foreseen),
        )
    if left:
        yield RoundStory(None, None, len(left), (), tuple(left.values()), None, None)


def _asked(calls: Sequence[Mapping[str, Any]]) -> Iterator[ModelUsage]:
    for role, model in dict.fromkeys((call["role"], call["model"]) for call in calls):
        own = [call for call in calls if (call["role"], call["model"]) == (role, model)]
        used = [call["usage"] for call in own]
        yield ModelUsage(
            role=role,
            model=model,
            calls=len(own),
            failed=sum(call["state"] in ("error", "unknown") for call in own),
            input=sum(each["input"] + each["cache_read"] + each["cache_write"] for each in used),
            cached=sum(each["cache_read"] for each in used),
            output=sum(each["output"] for each in used),
            usd=sum(call["usd"] or 0.0 for call in own),
            priced=all(call["usd"] is not None for call in own),
            seconds=sum(call["seconds"] or 0.0 for call in own),
        )
