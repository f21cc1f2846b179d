"""Verdicts and profiles as facts of a run: written before anybody reads them, and never made twice."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from whet.core.candidate import Candidate
from whet.core.errors import BaselineError, SandboxError, UsageError
from whet.core.evidence import Provenance
from whet.core.plain import from_plain, to_plain
from whet.core.profile import Profile
from whet.core.store import Store
from whet.core.task import Task
from whet.core.verdict import Verdict
from whet.evaluators.protocol import Evaluator

T = TypeVar("T", Verdict, Profile)

VERDICT = "verdict:{}:{}"
PROFILE = "profile:{}"
CANDIDATE = "candidate:{}"
BASELINE = "baseline"
PROVENANCE = "provenance"


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
        self._candidates: dict[str, Candidate] = {}
        self._ready = False
        self._closed = False
        self._readying = threading.Lock()
        self._writing = threading.Lock()
        self.task = evaluator.task
        self.baseline = Candidate(self.task.source, origin="baseline")
        self._candidates[self.baseline.id] = self.baseline

    def close(self) -> None:
        """Ends the evaluator; what its threads still find is worth nothing, and is not recorded."""
        with self._writing:
            self._closed = True
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
        """Makes a candidate known and returns its id; the first author of a text stays its author."""
        key = CANDIDATE.format(candidate.id)
        if self._store.fact(self._run, key) is None:
            self._store.put(candidate.source)
            self._store.set_fact(self._run, key, to_plain(replace(candidate, source="")))
        return candidate.id

    def candidate(self, id: str) -> Candidate:
        """Returns a candidate that was added, or the baseline."""
        if id not in self._candidates:
            known = from_plain(Candidate, self._store.fact(self._run, CANDIDATE.format(id)))
            self._candidates[id] = replace(known, source=self._store.get(id))
        return self._candidates[id]

    def profile(self, id: str) -> Profile:
        """Returns the hot lines of a right candidate or of the baseline."""
        return self._once(PROFILE.format(id), Profile, lambda: self._evaluator.profile(self.candidate(id)))

    def check(self, id: str) -> Verdict:
        """Returns the verdict of the rungs before measuring."""
        return self._once(VERDICT.format(id, "check"), Verdict, lambda: self._evaluator.check(self.candidate(id)))

    def measure(self, id: str) -> Verdict:
        """Returns the verdict up to the measure rung, for a candidate that was found right."""
        return self._once(
            VERDICT.format(id, "measure"),
            Verdict,
            lambda: self._evaluator.measure(self.candidate(id), self.check(id)),
        )

    def confirm(self, id: str) -> Verdict:
        """Returns the verdict up to the confirm rung, for a candidate that was measured."""
        return self._once(
            VERDICT.format(id, "confirm"),
            Verdict,
            lambda: self._evaluator.confirm(self.candidate(id), self.measure(id)),
        )

    def verdict(self, id: str) -> Verdict | None:
        """Returns what is known of a candidate, the confirm rung aside; None before its check."""
        measured = self._recall(VERDICT.format(id, "measure"), Verdict)
        return measured or self._recall(VERDICT.format(id, "check"), Verdict)

    def final(self, id: str) -> Verdict | None:
        """Returns all that is known of a candidate, the confirm rung included; None before its check."""
        return self._recall(VERDICT.format(id, "confirm"), Verdict) or self.verdict(id)

    def record(self, id: str) -> dict[str, Any]:
        """Returns what prompts say of a checked candidate, as plain JSON data.

        ``outcome`` is rejected, faster, not_shown, slower or untimed; ``rung``, ``reason`` and ``detail`` are
        those of the rung that it fell from; ``hints`` are what the screen noticed; ``diff`` is against its parent.
        """
        candidate, verdict = self.candidate(id), self.verdict(id)
        if verdict is None:
            raise LookupError(f"candidate {id} was not checked")
        fallen = verdict.failed
        timed = verdict.measurement
        if not verdict.correct:
            outcome = "rejected"
        else:
            outcome = timed.outcome.value if timed else "untimed"
        parent = self.candidate(candidate.parent or self.baseline.id)
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
            "detail": fallen.detail if fallen else "",
            "hints": screened.evidence.get("hints", []) if (screened := verdict.rung("screen")) else [],
            "metric": timed.speedup.metric if timed else None,
            "ratio": timed.speedup.ratio if timed else None,
            "low": timed.speedup.low if timed else None,
            "high": timed.speedup.high if timed else None,
            "diff": candidate.diff(parent.source, self.task.filename),
        }

    def _once(self, key: str, cls: type[T], work: Callable[[], T]) -> T:
        known = self._recall(key, cls)
        if known is not None:
            return known
        self._prepare()
        found = work()
        with self._writing:
            if self._closed:
                # A sandbox that was torn down looks like a candidate that crashed.
                raise SandboxError("the run was ended while a candidate was under way")
            self._store.set_fact(self._run, key, to_plain(found))
        self._known[key] = found
        return found

    def _recall(self, key: str, cls: type[T]) -> T | None:
        if key not in self._known:
            fact = self._store.fact(self._run, key)
            if fact is None:
                return None
            self._known[key] = from_plain(cls, fact)
        known: T = self._known[key]
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

    def profile(self, candidate: Candidate) -> Profile:
        """Returns the recorded profile."""
        return self._recorded(PROFILE.format(candidate.id), Profile)

    def check(self, candidate: Candidate) -> Verdict:
        """Returns the recorded verdict."""
        return self._recorded(VERDICT.format(candidate.id, "check"), Verdict)

    def measure(self, candidate: Candidate, verdict: Verdict) -> Verdict:
        """Returns the recorded verdict."""
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
