"""Fresh secret inputs, edge cases first: the candidate's outcomes against the baseline's."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from whet.core.task import Kind
from whet.core.verdict import Reason
from whet.evaluators import hidden_state
from whet.evaluators.finding import Fault
from whet.evaluators.inputs.counterexample import FEW_EXAMPLES, smallest
from whet.evaluators.inputs.domain import Domain
from whet.evaluators.inputs.edges import Edge, EdgeMaker, Key, stdin_edges
from whet.evaluators.inputs.plain_data import read
from whet.evaluators.inputs.plan import due, input_hash, plan
from whet.evaluators.inputs.rearranged import rearranged
from whet.evaluators.inputs.source import Input, InputSource, derive
from whet.evaluators.inputs.target_text import Wanted, wanted
from whet.evaluators.oracle import Oracle
from whet.evaluators.pairs import Met, Side
from whet.evaluators.subjects import Subject
from whet.sandbox.inside.codec import CodecError
from whet.sandbox.inside.decode import decode

DRAWN_SECONDS = 0.4
"""What the baseline may spend on drawn inputs; each listed size is met at least once however long that takes."""
EDGE_SECONDS = 0.2
"""What the baseline may spend on edited inputs, on examples of type hints and on known calls."""
EDGE_CALL_SECONDS = 0.2
"""What it may take for one of them; one that takes longer is a size gone wild."""
WALL_SECONDS = 5.0
"""After which no edited input is begun, whoever takes so long."""
MOST_EDGES = 320
MOST_TROUBLE = 5
"""Processes of the baseline that edited inputs may cost."""
BATCH = 40
TYPED = 24
TYPED_ALONE = 100
TWICE_SECONDS = 0.002
BASES = 40
FEWEST_BASES = 8
BASE_BYTES = 1 << 13
SHRINKABLE = frozenset({Reason.WRONG_OUTPUT, Reason.WRONG_EXCEPTION, Reason.MUTATED_INPUT, Reason.CRASH})
EXPLAINING_SECONDS = 0.5
"""What the candidate may take for an input that is only meant to explain."""


@dataclass(frozen=True, slots=True)
class Compared:
    """What the inputs showed.

    Attributes:
        fault: the first difference, if any.
        evidence: how many inputs from which source, their seed and hashes.
    """

    fault: Fault | None
    evidence: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Trial:
    """An input that may lie outside the target's domain.

    Attributes:
        item: the input.
        textual: whether a text was edited, or nobody knows.
        key: of the kind of edit at its place, which is not made again where the baseline is lost on it.
    """

    item: Input
    textual: bool
    key: Key | None = None


def compare_all(
    baseline: Subject,
    candidate: Subject,
    source: InputSource,
    oracle: Oracle,
    seed: int,
    hash_seed: int,
    seconds: float,
    explain: bool = True,
) -> Compared:
    """Runs both sides on fresh inputs until a difference, or until its time is spent.

    Drawn inputs come first, each listed size at least once; then known calls, examples of type hints, and edits of
    what was drawn. Then the same inputs come again: in another order, in a fresh process, and after their results
    were changed. An outcome that differs by then comes from state. Of a difference, the smallest input is looked for.

    Args:
        baseline: the original.
        candidate: what is compared with it.
        source: draws the inputs.
        oracle: judges the outcomes.
        seed: of the inputs.
        hash_seed: of both processes, so that what follows from the order of a set is the same in both.
        seconds: that one call may take.
        explain: whether the smallest input is looked for; where only the verdict counts, that would be waste.
    """
    comparison = _Comparison(baseline, candidate, source, oracle, seed, hash_seed, seconds)
    try:
        fault = comparison.run()
        if fault is not None and explain:
            fault = comparison.explained(fault)
    finally:
        comparison.close()
    return Compared(fault, comparison.evidence())


class _Comparison:
    """One candidate beside its baseline."""

    def __init__(
        self,
        baseline: Subject,
        candidate: Subject,
        source: InputSource,
        oracle: Oracle,
        seed: int,
        hash_seed: int,
        seconds: float,
    ) -> None:
        self.source = source
        self.oracle = oracle
        self.seed = seed
        self.seconds = seconds
        self.ours = Side(baseline, hash_seed)
        self.theirs = Side(candidate, hash_seed)
        self.program = source.task.kind is Kind.PROGRAM
        self.domain = Domain(source.text)
        self.bases: list[Met] = []
        self.plain: list[Any] = []
        self.last: Input | None = None
        self.met: list[Met] = []
        self.natural: set[str] = set()
        self.hashes: list[str] = []
        self.sources: Counter[str] = Counter()
        self.barred: set[Key | None] = set()
        self.spent = 0.0
        self.discarded = 0
        self.trouble = 0

    def evidence(self) -> dict[str, Any]:
        """Returns from what this check can be repeated."""
        return {
            "inputs": len(self.hashes),
            "hashes": self.hashes,
            "seed": self.seed,
            "sources": dict(self.sources),
            "discarded": self.discarded,
        }

    def close(self) -> None:
        self.ours.close()
        self.theirs.close()

    def run(self) -> Fault | None:
        if fault := self.theirs.open():
            return fault
        return self.drawn() or self.unpromised() or self.state()

    def drawn(self) -> Fault | None:
        """Meets what generators draw, and recorded cases."""
        met: set[int | None] = set()
        lost: set[int | None] = set()
        promised = due(self.source, self.seed)
        spent = 0.0
        for item in plan(self.source, self.seed):
            if item.size in lost:
                continue
            late = spent > DRAWN_SECONDS  # not the clock: a busy machine would try less
            if late and (item.size in met or item.size not in promised):
                if promised <= met:
                    break
                continue
            expected = self.ours.call(item.payload, self.seconds)
            if isinstance(expected, Fault):
                if item.size in self.source.sizes or item.size is None:
                    return Fault(Reason.NONDETERMINISTIC, f"the baseline: {expected.detail}")
                lost.add(item.size)  # a size that nobody listed and the baseline cannot do
                promised.discard(item.size)
                continue
            met.add(item.size)
            spent += expected[1]
            if item.size is None or item.size in self.source.sizes:
                self.natural.add(_raised(decode(expected[0]), self.program))
            elif self.asked(expected[0], textual=False) is Wanted.NOTHING:
                self.discarded += 1
                continue
            if fault := self.meet(item, *expected, twice=not self.program):
                return fault
        return None

    def meet(self, item: Input, expected: bytes, spent: float, twice: bool = False) -> Fault | None:
        """Lets the candidate meet an input, and both sides once more in a row where that is cheap."""
        self.hashes.append(input_hash(item))
        self.sources[item.source] += 1
        if fault := self.judged(item, expected):
            return fault
        if twice and spent < TWICE_SECONDS:
            again = self.ours.call(item.payload, self.seconds)
            if not isinstance(again, Fault) and (fault := self.judged(item, again[0])):
                return Fault(Reason.NONDETERMINISTIC, f"right, then wrong on the same input: {fault.detail}")
        self.met.append(Met(item, expected, spent))
        return None

    def judged(self, item: Input, expected: bytes) -> Fault | None:
        """Returns what is wrong with the candidate's outcome on an input."""
        self.last = item
        actual = self.theirs.call(item.payload, self.seconds)
        if isinstance(actual, Fault):
            return Fault(actual.reason, f"{actual.detail}\n{self.oracle.input_text(item)}")
        fault = self.oracle.judge(item, expected, actual[0])
        if fault is None:
            return None
        # Not a fork: in one, much lies where it lay in the first process.
        fresh = Side(self.theirs.subject, 1, worker=None)
        try:
            again = fresh.call(item.payload, self.seconds)
        finally:
            fresh.close()
        if not isinstance(again, Fault) and self.oracle.judge(item, actual[0], again[0]) is not None:
            return Fault(Reason.NONDETERMINISTIC, f"two runs on one input differ; {fault.detail}")
        return fault

    def explained(self, fault: Fault) -> Fault:
        """Returns a fault with the smallest input that shows it."""
        if fault.reason not in SHRINKABLE or self.last is None or self.last.expected is not None:
            return fault

        def failing(item: Input) -> Fault | None:
            expected = self.ours.call(item.payload, EXPLAINING_SECONDS)
            if isinstance(expected, Fault) or self.asked(expected[0], textual=False) is not Wanted.SAME:
                return None
            answer = self.theirs.call(item.payload, EXPLAINING_SECONDS)
            if isinstance(answer, Fault):
                return (
                    replace(answer, detail=f"{answer.detail}\n{self.oracle.input_text(item)}")
                    if answer.reason is fault.reason
                    else None
                )
            found = self.oracle.judge(item, expected[0], answer[0])
            return found if found is not None and found.reason is fault.reason else None

        examples = sorted((one.item.payload for one in self.met), key=len)[:BASES]
        return smallest(self.last, fault, failing, self.source, derive(self.seed, "smallest"), examples)

    def unpromised(self) -> Fault | None:
        """Meets inputs that the workload does not promise: known calls, examples of type hints, edges."""
        if self.program and not self.source.sizes and not self.source.validates:
            return self.rearranged()
        self.learn()
        typed = self.source.typed(derive(self.seed, "hints"), TYPED if self.source.timeable else TYPED_ALONE)
        admitted = [item for item in typed if all(map(self.domain.admits, _readable([item.payload])))]
        given = [_Trial(item, textual=True) for item in (*self.source.calls, *admitted)]
        if fault := self.unsure(iter(given)):
            return fault
        if not self.source.timeable:
            self.learn()
        return self.unsure(
            _Trial(_edge_input(edge), edge.textual, edge.key) for edge in islice(self.edges(), MOST_EDGES)
        )

    def rearranged(self) -> Fault | None:
        """Meets recorded cases with their values in other places: each case once, more while that is cheap.

        All else of them is public, so that a candidate could know it by heart.
        """
        cases = [one.item.payload for one in self.met]
        end = time.perf_counter() + WALL_SECONDS
        for number, edge in enumerate(rearranged(cases, derive(self.seed, "rearranged"))):
            if number >= len(cases) and (self.weary or time.perf_counter() > end):
                break
            found = self.tried(_Trial(_edge_input(edge), edge.textual), self.seconds)
            if isinstance(found, Fault):
                return found
            self.discarded += found is Wanted.NOTHING
        return None

    def learn(self) -> None:
        """Takes what was met for what the target is for."""
        usable = sorted((one for one in self.met if one.seconds < EDGE_CALL_SECONDS / 2), key=_payload_size)
        small = [one for one in usable if _payload_size(one) <= BASE_BYTES] or usable[:FEWEST_BASES]
        self.bases = [one for one in small if one.item.size != 0][-BASES:]
        if not self.program:
            self.plain = list(_readable(one.item.payload for one in self.bases))
            empty = _readable(one.item.payload for one in small if one.item.size == 0)
            self.domain = Domain(self.source.text)
            self.domain.learn([*self.plain, *empty])

    def edges(self) -> Iterator[Edge]:
        """Yields edits of what was met."""
        seed = derive(self.seed, "edges")
        if not self.program and len(self.plain) >= FEW_EXAMPLES:
            yield from EdgeMaker(self.domain).stream(self.plain, seed, self.barred)
        elif self.program and self.source.validates:  # else nobody knows which texts the program has to understand
            yield from stdin_edges([one.item.payload for one in self.bases], seed)

    @property
    def weary(self) -> bool:
        """Whether edited inputs have cost the baseline what they may."""
        return self.trouble >= MOST_TROUBLE or self.spent > EDGE_SECONDS * (3 if self.program else 1)

    def unsure(self, trials: Iterator[_Trial]) -> Fault | None:
        """Meets inputs that may lie outside the domain; what the baseline makes of them decides."""
        end = time.perf_counter() + WALL_SECONDS
        while batch := list(islice(trials, BATCH)):
            held = self.source.valid([trial.item.payload for trial in batch])
            for trial, valid in zip(batch, held, strict=True):
                if self.weary or time.perf_counter() > end:
                    return None
                found = self.tried(trial, EDGE_CALL_SECONDS * (4 if self.program else 1)) if valid else Wanted.NOTHING
                if isinstance(found, Fault):
                    return found
                self.discarded += found is Wanted.NOTHING
        return None

    def tried(self, trial: _Trial, seconds: float) -> Fault | Wanted:
        """Lets both sides meet an input, unless the baseline's outcome asks nothing of others."""
        expected = self.ours.call(trial.item.payload, seconds)
        if isinstance(expected, Fault):
            self.trouble += 1
            self.barred.add(trial.key)
            return Wanted.NOTHING
        outcome, spent = expected
        self.spent += spent
        asked = self.asked(outcome, trial.textual)
        if asked is Wanted.RAISE:
            answer = self.theirs.call(trial.item.payload, self.seconds)
            if not isinstance(answer, Fault) and _raised(decode(answer[0]), program=False):
                return asked
        if asked is not Wanted.NOTHING and (fault := self.meet(trial.item, outcome, spent)):
            return fault if self.sure(trial.item, outcome) else Wanted.NOTHING
        return asked

    def asked(self, outcome: bytes, textual: bool) -> Wanted:
        """Returns what the baseline's outcome on an input outside the workload asks of a candidate."""
        decoded = decode(outcome)
        if self.program:
            return Wanted.SAME if decoded[0] == 0 or str(decoded[0]) in self.natural else Wanted.NOTHING
        return wanted(decoded, self.source.text, frozenset(self.natural), textual)

    def sure(self, item: Input, expected: bytes) -> bool:
        """Whether the baseline's outcome is one that an honest candidate would have: the same anywhere, and valid."""
        if self.source.check(item.payload, self.oracle.checkable(expected)):
            return False
        fresh = Side(self.ours.subject, 1, worker=None)
        try:
            again = fresh.call(item.payload, self.seconds)
        finally:
            fresh.close()
        return not isinstance(again, Fault) and self.oracle.compare(item, expected, again[0]) is None

    def state(self) -> Fault | None:
        """Looks for state; see `whet.evaluators.hidden_state`."""
        fault = hidden_state.repeated(self.theirs, self.oracle, self.met, self.seconds)
        if fault is None and not self.program:
            fault = hidden_state.spoiled(self.ours, self.theirs, self.oracle, self.met, self.seconds)
        return fault or hidden_state.elsewhere(
            self.ours.subject, self.theirs.subject, self.oracle, self.met, derive(self.seed, "elsewhere"), self.seconds
        )


def _edge_input(edge: Edge) -> Input:
    return Input(f"an edited input ({edge.name})", edge.payload, source="edges")


def _payload_size(one: Met) -> int:
    return len(one.item.payload)


def _readable(payloads: Iterable[bytes]) -> Iterator[Any]:
    """Yields inputs as plain data, but for those that cannot be walked through."""
    for payload in payloads:
        try:
            yield read(payload)
        except (CodecError, RecursionError):
            continue


def _raised(outcome: tuple[Any, ...], program: bool) -> str:
    """Returns the name of the exception, or the exit code, that an outcome is; empty where it is a value."""
    if program:
        return str(outcome[0]) if outcome[0] else ""
    return outcome[3][0].rpartition(":")[2].rpartition(".")[2] if outcome[0] == "raise" else ""
