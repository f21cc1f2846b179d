"""Verdicts and profiles as facts of a run: written before anybody reads them, and never made twice."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from whet.agents.race import undecided
from whet.core.candidate import Candidate
from whet.core.circumstances import Circumstances
from whet.core.errors import BaselineError, SandboxError, UsageError
from whet.core.evidence import Provenance
from whet.core.helpers import Helpers
from whet.core.plain import from_plain, to_plain
from whet.core.profile import Profile
from whet.core.store import Store
from whet.core.task import Task
from whet.core.verdict import Reason, RungStatus, Verdict
from whet.evaluators.protocol import Evaluator
from whet.prompts import times

T = TypeVar("T", Verdict, Profile, Circumstances, Helpers)

VERDICT = "verdict:{}:{}"
PROFILE = "profile:{}"
HELPERS = "helpers:{}"
CANDIDATE = "candidate:{}"
BASELINE = "baseline"
PROVENANCE = "provenance"
CIRCUMSTANCES = "circumstances"


class Evaluations:
    """Candidates of one run by id, and what its evaluator found. Safe for several threads.

    Args:
        store: where they live.
        run: the run's id.
        evaluator: asked for what is not known yet. Its ``validate`` is called before its first use.
    """

    def __init__(self, store: Store, run: str, evaluator: Evaluator) -> None:
        self._store = store
        self._run = run
        self._evaluator = evaluator
        self._known: dict[str, Any] = {}
        # Nobody but this process adds to a run that it holds.
        self._recorded = store.keys(run)
        self._candidates: dict[str, Candidate] = {}
        self._records: dict[str, dict[str, Any]] = {}
        self._ready = False
        self._closed = False
        self._readying = threading.Lock()
        self._writing = threading.Lock()
        self.task = evaluator.task
        self.baseline = Candidate(self.task.source, origin="baseline")
        self._candidates[self.baseline.id] = self.baseline

    def close(self) -> None:
        """Ends the evaluator, once; what its threads still find is worth nothing, and is not recorded."""
        with self._writing:
            closed, self._closed = self._closed, True
        if not closed:
            self._evaluator.close()

    def validate(self) -> None:
        """Checks the baseline and its oracle.

        Raises:
            BaselineError: no verdict could rest on this baseline.
        """
        known = self._store.fact(self._run, BASELINE)
        if known is None:
            try:
                self._prepare()
                known = {}
            except BaselineError as error:
                known = {"message": str(error), "reason": error.reason}
            self._store.set_fact(self._run, BASELINE, known)
        if known:
            raise BaselineError(known["message"], known["reason"])

    def add(self, candidate: Candidate) -> str:
        """Makes a candidate known and returns its id.

        A round that is asked again may find another author for a text, who then is its author.
        """
        with self._store.transaction():
            self._store.put(candidate.source)
            self._store.set_fact(self._run, CANDIDATE.format(candidate.id), to_plain(replace(candidate, source="")))
        self._candidates[candidate.id] = candidate
        return candidate.id

    def know(self, candidate: Candidate) -> None:
        """Makes known what is judged beside the run's candidates; a candidate of the same text stays what it is."""
        if CANDIDATE.format(candidate.id) not in self._recorded:
            self._candidates[candidate.id] = candidate

    def candidate(self, id: str) -> Candidate:
        """Returns a candidate that was added, or the baseline."""
        if id not in self._candidates:
            known = from_plain(Candidate, self._store.fact(self._run, CANDIDATE.format(id)))
            self._candidates[id] = replace(known, source=self._store.get(id))
        return self._candidates[id]

    def circumstances(self) -> Circumstances:
        """Returns where candidates run, and on what, as it was when the run first asked."""
        return self._once(CIRCUMSTANCES, Circumstances, self._evaluator.circumstances)

    def profile(self, id: str) -> Profile:
        """Returns the hot lines of a right candidate or of the baseline."""
        return self._once(PROFILE.format(id), Profile, lambda: self._evaluator.profile(self.candidate(id)))

    def announce(self, ids: Sequence[str]) -> None:
        """Says which candidates are checked next; see `whet.evaluators.protocol.Evaluator.announce`.

        All of them, those of known verdict too: what the others meet follows from who is among them.
        """
        self._evaluator.announce([self.candidate(id) for id in ids])

    def profiled(self, id: str) -> Profile | None:
        """Returns the hot lines of what was profiled; None for what was not."""
        return self._recall(PROFILE.format(id), Profile)

    def check(self, id: str) -> Verdict:
        """Returns the verdict of the rungs before measuring."""
        if (known := self.verdict(id)) is not None:
            return known.until("measure")
        return self._once(VERDICT.format(id, "check"), Verdict, lambda: self._evaluator.check(self.candidate(id)))

    def helpers(self, id: str) -> Helpers:
        """Returns which function of a wrong candidate is the lowest wrong one, as far as that can be told."""
        return self._once(
            HELPERS.format(id), Helpers, lambda: self._evaluator.helpers(self.candidate(id), self.check(id))
        )

    def measure(self, id: str) -> Verdict:
        """Returns the verdict up to the measure rung, for a candidate that was found right."""
        return self._once(
            VERDICT.format(id, "measure"),
            Verdict,
            lambda: self._evaluator.measure(self.candidate(id), self.check(id)),
        )

    def look(self, id: str, looks: int) -> Verdict:
        """Returns the verdict after so many looks at the metric, or an earlier one that decided."""
        if (known := self._recall(VERDICT.format(id, "measure"), Verdict)) is not None:
            return known
        begun = self._recall(VERDICT.format(id, "look"), Verdict)
        if begun is not None and undecided(begun) >= looks:
            return begun
        self._prepare()
        found = self._evaluator.measure(self.candidate(id), begun or self.check(id), looks=looks)
        return self._looked(id, found)

    def leave(self, id: str, why: str) -> Verdict:
        """Ends a measurement that is undecided: not shown to be any faster.

        Args:
            id: of the candidate.
            why: it is not measured further.
        """
        begun = self._recall(VERDICT.format(id, "look"), Verdict)
        assert begun is not None, "it was looked at"
        assert begun.measurement is not None, "it would not be undecided"
        *rungs, last = begun.rungs
        told = "; ".join(filter(None, (last.detail, why)))
        fallen = replace(last, status=RungStatus.FAILED, reason=Reason.NOT_FASTER, detail=told)
        measurement = replace(begun.measurement, undecided=0, note=told)
        return self._looked(id, Verdict(id, (*rungs, fallen), measurement))

    def _looked(self, id: str, found: Verdict) -> Verdict:
        """Records what looks came to: as the measurement where it is over."""
        look = VERDICT.format(id, "look")
        if undecided(found):
            return self._recorded_as(look, found)
        self._recorded_as(VERDICT.format(id, "measure"), found)
        if self._recall(look, Verdict) is not None:
            self._store.drop_fact(self._run, look)
            self._known[look] = None
        return found

    def confirm(self, id: str) -> Verdict:
        """Returns the verdict up to the confirm rung, for a candidate that was measured."""
        return self._once(
            VERDICT.format(id, "confirm"),
            Verdict,
            lambda: self._evaluator.confirm(self.candidate(id), self.measure(id)),
        )

    def is_settled(self, id: str) -> bool:
        """Tells whether it is known whether a candidate is confirmed."""
        return self._recall(VERDICT.format(id, "confirm"), Verdict) is not None

    def verdict(self, id: str) -> Verdict | None:
        """Returns what is known of a candidate, the confirm rung aside; None before its check."""
        checked = self._recall(VERDICT.format(id, "check"), Verdict)
        if checked is not None and not checked.correct:
            return checked
        return self._recall(VERDICT.format(id, "measure"), Verdict) or checked

    def final(self, id: str) -> Verdict | None:
        """Returns all that is known of a candidate, the confirm rung included; None before its check."""
        return self._recall(VERDICT.format(id, "confirm"), Verdict) or self.verdict(id)

    def record(self, id: str) -> dict[str, Any]:
        """Returns what prompts say of a checked candidate, as plain JSON data that nobody changes.

        ``outcome`` is rejected, faster, not_shown, slower or untimed; ``rung``, ``reason`` and ``detail`` are
        those of the rung that it fell from, or the detail is what a compiler told of what could not be timed;
        ``unkept`` says which limit was not shown to be kept; ``hints`` are what the screen noticed; ``workloads`` are
        the ratios by input; ``diff`` is against its parent.
        """
        if id in self._records:
            return self._records[id]
        verdict = self.verdict(id)
        if verdict is None:
            raise LookupError(f"candidate {id} was not checked")
        record = self._record(id, verdict)
        if verdict.measurement is not None or not verdict.correct:  # nothing more is found before it is confirmed
            self._records[id] = record
        return record

    def _record(self, id: str, verdict: Verdict) -> dict[str, Any]:
        candidate = self.candidate(id)
        parent = self.candidate(candidate.parent or self.baseline.id)
        fallen = verdict.failed or verdict.undecided
        timed = verdict.measurement
        if verdict.rejected:
            outcome = "rejected"
        else:
            outcome = timed.outcome.value if timed else "untimed"
        return {
            "candidate": id,
            "parent": candidate.parent,
            "origin": candidate.origin,
            "note": candidate.note,
            "labels": list(candidate.labels),
            "outcome": outcome,
            "correct": verdict.correct,
            "improved": verdict.improved,
            "rung": fallen.name if fallen else None,
            "reason": fallen.reason.value if fallen and fallen.reason else None,
            "detail": fallen.detail if fallen else _compiled(verdict) if timed is None else "",
            "hints": screened.evidence.get("hints", []) if (screened := verdict.rung("screen")) else [],
            "metric": timed.speedup.metric if timed else None,
            "ratio": timed.speedup.ratio if timed else None,
            "low": timed.speedup.low if timed else None,
            "high": timed.speedup.high if timed else None,
            "unkept": timed.unkept if timed else "",
            "workloads": [f"{each.name} {times(each.ratio)}" for each in timed.speedup.workloads] if timed else [],
            "diff": candidate.diff(parent.source, self.task.filename),
        }

    def thin(self, ids: Iterable[str]) -> None:
        """Drops the raw evidence of candidates that can no longer win, and what is said of them twice.

        What they were found to be stays, with the seeds, from which the inputs can be drawn again. The raw evidence of
        one candidate is larger than all else that a round stores.
        """
        with self._store.transaction():
            for id in ids:
                check, measure = (VERDICT.format(id, stage) for stage in ("check", "measure"))
                measured = self._recall(measure, Verdict)
                if measured is not None:
                    self._shorten(measure, measured)
                    self._store.drop_fact(self._run, check)
                    self._known[check] = None
                elif (checked := self._recall(check, Verdict)) is not None:
                    self._shorten(check, checked)

    def _shorten(self, key: str, known: Verdict) -> None:
        if (thinned := known.thinned()) != known:
            self._store.shorten_fact(self._run, key, to_plain(thinned))
            self._known[key] = thinned

    def _once(self, key: str, cls: type[T], work: Callable[[], T]) -> T:
        known = self._recall(key, cls)
        if known is not None:
            return known
        self._prepare()
        return self._recorded_as(key, work())

    def _recorded_as(self, key: str, found: T) -> T:
        with self._writing:
            if self._closed:
                # A sandbox that was torn down looks like a candidate that crashed.
                raise SandboxError("the run was ended while a candidate was under way")
            self._store.set_fact(self._run, key, to_plain(found))
        self._known[key] = found
        return found

    def _recall(self, key: str, cls: type[T]) -> T | None:
        if key not in self._known and key in self._recorded:
            self._known[key] = from_plain(cls, self._store.fact(self._run, key))
        known: T | None = self._known.get(key)
        return known

    def _prepare(self) -> None:
        with self._readying:
            if not self._ready:
                self._evaluator.validate()
                provenance = self._evaluator.provenance(self._store.put)
                if provenance is not None:
                    self._store.set_fact(self._run, PROVENANCE, to_plain(provenance))
                self._ready = True


class StoredEvaluations:
    """An evaluator that answers from a past run's facts; a miss is an error.

    Args:
        store: holds the run.
        run: its id.
        task: of that run.
        fresh: times anew what the run had confirmed; None repeats the recorded figures.
    """

    def __init__(self, store: Store, run: str, task: Task, fresh: Evaluator | None = None) -> None:
        self.task = task
        self._store = store
        self._run = run
        self._fresh = fresh

    def validate(self) -> None:
        """Finds what the run found of its baseline.

        Raises:
            BaselineError: the run could not use its baseline, or ``fresh`` cannot any more.
        """
        if known := self._store.fact(self._run, BASELINE):
            raise BaselineError(known["message"], known["reason"])
        if self._fresh is not None:
            self._fresh.validate()

    def provenance(self, keep: Callable[[str], str]) -> Provenance | None:
        """Returns what the recorded verdicts rest on, or what fresh ones will."""
        if self._fresh is not None:
            return self._fresh.provenance(keep)
        known = self._store.fact(self._run, PROVENANCE)
        return None if known is None else from_plain(Provenance, known)

    def circumstances(self) -> Circumstances:
        """Returns what the run's prompts told of them."""
        return self._recorded(CIRCUMSTANCES, Circumstances)

    def profile(self, candidate: Candidate) -> Profile:
        """Returns the recorded profile."""
        return self._recorded(PROFILE.format(candidate.id), Profile)

    def announce(self, candidates: Sequence[Candidate]) -> None:
        """Does nothing: recorded verdicts are what they are, and a fresh one is of one candidate by itself."""

    def check(self, candidate: Candidate) -> Verdict:
        """Returns the recorded verdict; that of a candidate which fell behind stands in its measurement's alone."""
        key = VERDICT.format(candidate.id, "check")
        if self._store.fact(self._run, key) is None:
            key = VERDICT.format(candidate.id, "measure")
        return self._recorded(key, Verdict).until("measure")

    def helpers(self, candidate: Candidate, verdict: Verdict) -> Helpers:
        """Returns what was recorded."""
        return self._recorded(HELPERS.format(candidate.id), Helpers)

    def measure(self, candidate: Candidate, verdict: Verdict, *, looks: int | None = None) -> Verdict:
        """Returns the recorded verdict, which is what all looks together came to."""
        return self._recorded(VERDICT.format(candidate.id, "measure"), Verdict)

    def confirm(self, candidate: Candidate, verdict: Verdict) -> Verdict:
        """Returns the recorded verdict, or a fresh one where ``fresh`` may time the candidate."""
        key = VERDICT.format(candidate.id, "confirm")
        if self._fresh is None:
            return self._recorded(key, Verdict)
        if (known := self._store.fact(self._run, key)) is not None:
            recorded = from_plain(Verdict, known)
            if not recorded.improved:
                return recorded
        anew = self._fresh.check(candidate)
        if anew.correct:
            anew = self._fresh.measure(candidate, anew)
        return self._fresh.confirm(candidate, anew) if anew.improved else anew

    def close(self) -> None:
        """Ends ``fresh``."""
        if self._fresh is not None:
            self._fresh.close()

    def _recorded(self, key: str, cls: type[T]) -> T:
        fact = self._store.fact(self._run, key)
        if fact is None:
            raise UsageError(f"run {self._run} holds no {key}; it cannot be replayed")
        return from_plain(cls, fact)


def _compiled(verdict: Verdict) -> str:
    """Returns what a compiler told of the kernels in a candidate; empty where nobody asked it."""
    build = verdict.rung("build")
    return "\n".join(build.evidence.get("static", ())) if build else ""
