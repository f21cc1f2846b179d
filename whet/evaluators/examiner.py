"""Draws the inputs of an examination, and has the baseline meet them: what it makes of each says what is asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from typing import Any

from whet.core.task import Kind
from whet.core.verdict import Reason
from whet.evaluators.finding import Fault
from whet.evaluators.inputs.counterexample import FEW_EXAMPLES
from whet.evaluators.inputs.domain import Domain
from whet.evaluators.inputs.edges import Edge, EdgeMaker, Key, stdin_edges
from whet.evaluators.inputs.plain_data import read, write
from whet.evaluators.inputs.plan import due, input_hash, plan
from whet.evaluators.inputs.rearranged import rearranged
from whet.evaluators.inputs.source import EDITED, Input, InputSource, derive
from whet.evaluators.inputs.target_text import Wanted, wanted
from whet.evaluators.live import Answer
from whet.evaluators.pairs import Met, Side
from whet.evaluators.subjects import Subject
from whet.sandbox.inside.codec import CodecError, encode, pack_size
from whet.sandbox.inside.decode import decode

DRAWN_SECONDS = 0.4
"""What the baseline may spend on drawn inputs; each listed size is met at least once however long that takes."""
FEWEST_DRAWN = 5
"""Inputs that are drawn however long that takes: a first call that is slow to start would else be the only one."""
EDGE_SECONDS = 0.2
"""What the baseline may spend on edited inputs, on examples of type hints and on known calls."""
EDGE_CALL_SECONDS = 0.2
"""What it may take for one of them; one that takes longer is a size gone wild."""
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
VALUE = b"t*" + pack_size(5) + encode("value")
"""How every outcome of a function begins that returned a value: the first of five parts, of different types."""


@dataclass(frozen=True, slots=True)
class Step(Met):
    """An input that a candidate has to meet.

    Attributes:
        hash: what the input is known by in the evidence.
        asked: what the baseline's outcome asks of a candidate.
        again: the baseline's outcome when the same input came once more in a row; None where both sides meet it once.
        promised: whether the workload promises it; else it may lie outside the target's domain.
        stage: steps of one stage share a limit of wall time; None for those that are met however long it takes.
        discarded: inputs since the step before that ask nothing of a candidate.
    """

    hash: str
    asked: Wanted
    again: bytes | None
    promised: bool
    stage: str | None
    discarded: int


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


class Examiner:
    """Takes the baseline along one sequence of inputs.

    Attributes:
        ours: the baseline's process.
        discarded: inputs since the last step that ask nothing of a candidate.
    """

    def __init__(self, baseline: Subject, source: InputSource, seed: int, hash_seed: int, seconds: float) -> None:
        self.ours = Side(baseline, hash_seed)
        self.discarded = 0
        self._source = source
        self._seed = seed
        self._seconds = seconds
        self._program = source.task.kind is Kind.PROGRAM
        self._domain = Domain(source.text)
        self._bases: list[Step] = []
        self._plain: list[Any] = []
        self._met: list[Step] = []
        self._natural: set[str] = set()
        self._barred: set[Key | None] = set()
        self._spent = 0.0
        self._trouble = 0

    def steps(self) -> Iterator[Step | Fault]:
        """Yields drawn inputs first, each listed size at least once; then known calls, examples of type hints, edits.

        A fault is the baseline's own on an input of the workload, and the end.

        Raises:
            UsageError: the workload's generator failed.
        """
        yield from self._drawn()
        if self._program and not self._source.sizes and not self._source.validates:
            yield from self._rearranged()
            return
        self._learn()
        count = TYPED if self._source.timeable else TYPED_ALONE
        typed = self._source.typed(derive(self._seed, "hints"), count)
        admitted = [item for item in typed if all(map(self._domain.admits, _readable([item.payload])))]
        given = [_Trial(item, textual=True) for item in (*self._source.calls, *admitted)]
        yield from self._unsure(iter(given), "given")
        if not self._source.timeable:
            self._learn()
        edges = (_Trial(_edge_input(edge), edge.textual, edge.key) for edge in islice(self._edges(), MOST_EDGES))
        yield from self._unsure(edges, "edges")

    def _drawn(self) -> Iterator[Step | Fault]:
        """Yields what generators draw, and recorded cases."""
        met: set[int | None] = set()
        lost: set[int | None] = set()
        drawn = 0
        promised = due(self._source, self._seed)
        spent = 0.0
        for item in plan(self._source, self._seed):
            if item.size in lost:
                continue
            enough = item.seed is None or drawn >= FEWEST_DRAWN
            late = enough and spent > DRAWN_SECONDS  # not the clock: a busy machine would try less
            if late and (item.size in met or item.size not in promised):
                if promised <= met:
                    break
                continue
            expected = self.ours.call(item.payload, self._seconds)
            if isinstance(expected, Fault):
                if item.size in self._source.sizes or item.size is None:
                    yield Fault(Reason.NONDETERMINISTIC, f"the baseline: {expected.detail}")
                    return
                lost.add(item.size)  # a size that nobody listed and the baseline cannot do
                promised.discard(item.size)
                continue
            met.add(item.size)
            drawn += item.seed is not None
            outcome, seconds = expected
            spent += seconds
            if item.size is None or item.size in self._source.sizes:
                self._natural.add(self._raised(outcome))
            elif self.asked(outcome, textual=False) is Wanted.NOTHING:
                self.discarded += 1
                continue
            yield self._step(item, expected, Wanted.SAME, None, promised=True, again=self._again(item, seconds))

    def _raised(self, outcome: bytes) -> str:
        return "" if outcome.startswith(VALUE) and not self._program else raised(decode(outcome), self._program)

    def _again(self, item: Input, seconds: float) -> bytes | None:
        """Returns the outcome when a cheap input comes once more in a row."""
        if self._program or seconds >= TWICE_SECONDS:
            return None
        again = self.ours.call(item.payload, self._seconds)
        return None if isinstance(again, Fault) else again[0]

    def _step(
        self,
        item: Input,
        answer: tuple[bytes, float],
        asked: Wanted,
        stage: str | None,
        promised: bool = False,
        again: bytes | None = None,
    ) -> Step:
        step = Step(item, *answer, input_hash(item), asked, again, promised, stage, self.discarded)
        self.discarded = 0
        if asked is Wanted.SAME:
            self._met.append(step)
        return step

    def _rearranged(self) -> Iterator[Step]:
        """Yields recorded cases with their values in other places: each case once, more while that is cheap.

        All else of them is public, so that a candidate could know it by heart.
        """
        cases = [one.item.payload for one in self._met]
        for number, edge in enumerate(rearranged(cases, derive(self._seed, "rearranged"))):
            promised = number < len(cases)
            if not promised and self._weary():
                return
            trial = _Trial(_edge_input(edge), edge.textual)
            answer = self.ours.call(trial.item.payload, self._seconds)
            if step := self._tried(trial, answer, None if promised else "rearranged"):
                yield step

    def _learn(self) -> None:
        """Takes what was met for what the target is for."""
        usable = sorted((one for one in self._met if one.seconds < EDGE_CALL_SECONDS / 2), key=_payload_size)
        small = [one for one in usable if _payload_size(one) <= BASE_BYTES] or usable[:FEWEST_BASES]
        self._bases = [one for one in small if one.item.size != 0][-BASES:]
        if not self._program:
            self._plain = list(_readable(one.item.payload for one in self._bases))
            empty = _readable(one.item.payload for one in small if one.item.size == 0)
            self._domain = Domain(self._source.text)
            self._domain.learn([*self._plain, *empty])

    def _edges(self) -> Iterator[Edge]:
        """Yields edits of what was met."""
        seed = derive(self._seed, "edges")
        if not self._program and len(self._plain) >= FEW_EXAMPLES:
            edges = EdgeMaker(self._domain).stream(self._plain, seed, self._barred)
            yield from edges if self._source.task.module is None else of_known_modules(edges, self._plain)
        elif self._program and self._source.validates:  # else nobody knows which texts the program has to understand
            yield from stdin_edges([one.item.payload for one in self._bases], seed)

    def _weary(self) -> bool:
        """Whether edited inputs have cost the baseline what they may."""
        return self._trouble >= MOST_TROUBLE or self._spent > EDGE_SECONDS * (3 if self._program else 1)

    def _unsure(self, trials: Iterator[_Trial], stage: str) -> Iterator[Step]:
        """Yields inputs that may lie outside the domain; what the baseline makes of them decides."""
        seconds = EDGE_CALL_SECONDS * (4 if self._program else 1)
        while not self._weary() and (batch := list(islice(trials, BATCH))):
            valid = self._source.valid([trial.item.payload for trial in batch])
            kept = [trial for trial, held in zip(batch, valid, strict=True) if held]
            self.discarded += len(batch) - len(kept)
            steps = []
            with closing(self.ours.calls([trial.item.payload for trial in kept], seconds)) as answers:
                for trial, answer in zip(kept, answers, strict=True):
                    steps.append(self._tried(trial, answer, stage))
                    if self._weary():
                        break
            yield from filter(None, steps)

    def _tried(self, trial: _Trial, answer: Answer, stage: str | None) -> Step | None:
        """Returns an input that nobody promised, unless the baseline's outcome asks nothing of others."""
        if isinstance(answer, Fault):
            self._trouble += 1
            self._barred.add(trial.key)
            self.discarded += 1
            return None
        outcome, seconds = answer
        self._spent += seconds
        asked = self.asked(outcome, trial.textual)
        if asked is Wanted.NOTHING:
            self.discarded += 1
            return None
        return self._step(trial.item, answer, asked, stage)

    def asked(self, outcome: bytes, textual: bool) -> Wanted:
        """Returns what the baseline's outcome on an input outside the workload asks of a candidate."""
        if outcome.startswith(VALUE) and not self._program:
            return Wanted.SAME
        decoded = decode(outcome)
        if self._program:
            return Wanted.SAME if decoded[0] == 0 or str(decoded[0]) in self._natural else Wanted.NOTHING
        return wanted(decoded, self._source.text, frozenset(self._natural), textual)


def raised(outcome: tuple[Any, ...], program: bool) -> str:
    """Returns the name of the exception, or the exit code, that an outcome is; empty where it is a value."""
    if program:
        return str(outcome[0]) if outcome[0] else ""
    return outcome[3][0].rpartition(":")[2].rpartition(".")[2] if outcome[0] == "raise" else ""


def of_known_modules(edges: Iterable[Edge], drawn: Iterable[Any]) -> Iterator[Edge]:
    """Yields edits of what a torch module is called with; one of how it is constructed makes another problem."""
    known = {_construction(value) for value in drawn}
    yield from (edge for edge in edges if any(_construction(value) in known for value in _readable([edge.payload])))


def _construction(given: Any) -> bytes:
    """Returns what an input of a torch module says of its constructor; see `whet.evaluators.kernels.problem`."""
    return next(write(value) for _, name, value in given.state if name == "init")


def _edge_input(edge: Edge) -> Input:
    return Input(f"an edited input ({edge.name})", edge.payload, source=EDITED)


def _payload_size(one: Met) -> int:
    return len(one.item.payload)


def _readable(payloads: Iterable[bytes]) -> Iterator[Any]:
    """Yields inputs as plain data, but for those that cannot be walked through."""
    for payload in payloads:
        try:
            yield read(payload)
        except (CodecError, RecursionError):
            continue
