"""Draws the inputs of an examination, and has the baseline meet them: what it makes of each says what is asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import chain, islice
from statistics import fmean
from typing import Any

from whet.core.task import Kind
from whet.core.verdict import Reason
from whet.evaluators.artifacts import Artifact
from whet.evaluators.costs import CHEAP, MODERATE, Costs, affordable, cost_class, measured, spread
from whet.evaluators.finding import BaselineLost, Fault
from whet.evaluators.inputs.counterexample import FEW_EXAMPLES
from whet.evaluators.inputs.domain import Domain
from whet.evaluators.inputs.edges import Edge, EdgeMaker, Key, stdin_edges
from whet.evaluators.inputs.plain_data import read, write
from whet.evaluators.inputs.plan import Draw, draws, input_hash, plan
from whet.evaluators.inputs.rearranged import rearranged
from whet.evaluators.inputs.source import EDITED, Input, InputSource, derive
from whet.evaluators.inputs.target_text import RequiredOutcome, wanted
from whet.evaluators.outcomes import decode_call, decode_run
from whet.evaluators.pairs import ComparedInput, Side
from whet.evaluators.processes import CallResult
from whet.sandbox.inside.codec import CodecError, encode, pack_size
from whet.sandbox.protocol import CpuLimit

DRAWN_SECONDS = 0.6
"""CPU seconds of the baseline, by its class, for the inputs that one generator draws of one size."""
CASES_SECONDS = 2.4
"""The same for all recorded cases and calls, where they are not cheap; all of those that are cheap are met."""
FEWEST_CASES = 5
"""Of those, however slow they are."""
EDGE_SECONDS = 2.4
"""The same for edited inputs, and once more for examples of type hints and known calls."""
FEWEST_EDGES, MOST_EDGES = 8, 320
"""Of each of those; with fewer than the first, most kinds of edits would never be made."""
EDGE_CALL_SECONDS = 0.2
"""CPU seconds that the baseline may take for one of them; a longer one is far larger than the workload's."""
EDGE_CALL_COSTS = 4.0
"""The same as a multiple of the class of what was edited, where that is more."""
PROGRAM_SHARE = 4
"""So many times as long for a program, whose process has to start."""
MOST_TROUBLE = 5
"""Processes of the baseline that edited inputs may end."""
BATCH = 40
"""Inputs outside the workload that are made, checked for validity and handed over at once. More take fewer exchanges
with processes; fewer make less of a kind of edit that ends the baseline before it is barred."""
TYPED = 24
"""Examples of type hints that are drawn where there is a workload too. More show more values that its generators never
give, and each takes a call of both sides."""
TYPED_ALONE = 100
"""The same where there is no workload: more, since all inputs then come from the hints, known calls and edits of
both."""
BASES = 40
"""Inputs that were met and are edited, the largest up to `BASE_BYTES`. More vary what is edited, and each takes time to
be read and learned from."""
FEWEST_BASES = 8
"""Inputs, the cheapest or smallest, that are edited where too few are cheap or small. Below `FEW_EXAMPLES` nothing
would be edited; more take longer, as these are slow or large."""
BASE_BYTES = 1 << 13
"""Bytes of an input that is edited, where any is that small: an edit copies and writes the whole input. A larger limit
makes edits slower; a smaller one leaves out faults that only larger inputs show."""
VALUE = b"t*" + pack_size(5) + encode("value")
"""How every outcome of a function begins that returned a value: the first of five parts, of different types."""


@dataclass(frozen=True, slots=True)
class Step(ComparedInput):
    """An input that a candidate has to meet.

    Attributes:
        cost: the class of the baseline's cost; see `whet.evaluators.costs`.
        hash: what the input is known by in the evidence.
        asked: what the baseline's outcome asks of a candidate.
        again: the baseline's outcome when the same input came once more in a row; None where both sides meet it once.
        promised: whether the workload promises it; else it may lie outside the target's domain.
        discarded: inputs since the step before that ask nothing of a candidate.
    """

    cost: float
    hash: str
    asked: RequiredOutcome
    again: bytes | None
    promised: bool
    discarded: int


@dataclass(frozen=True, slots=True)
class Cut:
    """Inputs that were planned and not tried, since calls of the baseline are slow.

    Attributes:
        tried: how many were.
        planned: how many would have been where calls are cheap.
        lost: processes of the baseline that they ended, where that is the reason instead.
    """

    tried: int
    planned: int
    lost: int = 0


@dataclass(frozen=True, slots=True)
class _UnsureInput:
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
        cut: what was not tried, by the stage.
        met: all steps so far of which the same outcome is asked.
    """

    def __init__(
        self,
        baseline: Artifact,
        source: InputSource,
        seed: int,
        hash_seed: int,
        seconds: float,
        costs: Costs | None,
    ) -> None:
        self.ours = Side(baseline, hash_seed)
        self.discarded = 0
        self.cut: dict[str, Cut] = {}
        self._baseline = baseline
        self._costs = costs
        self._source = source
        self._seed = seed
        self._seconds = seconds
        self._program = source.task.kind is Kind.PROGRAM
        self._domain = Domain(source.text)
        self._bases: list[Step] = []
        self._plain: list[Any] = []
        self.met: list[Step] = []
        self._natural: set[str] = set()
        self._barred: set[Key | None] = set()
        self._trouble = 0

    def steps(self) -> Iterator[Step | Fault]:
        """Yields drawn inputs first, each listed size at least once; then known calls, examples of type hints, edits.

        A fault is the baseline's own on an input of the workload, and the end.

        Raises:
            UsageError: the workload's generator failed.
        """
        costs = self._costs or measured(self._baseline, self._source, self._seconds)
        yield from self._drawn(costs)
        if self._program and not self._source.sizes and not self._source.validates:
            yield from self._rearranged(costs.cases)
            return
        self._learn()
        count = TYPED if self._source.timeable else TYPED_ALONE
        typed = self._source.typed(derive(self._seed, "hints"), count)
        admitted = [item for item in typed if all(map(self._domain.admits, _readable([item.payload])))]
        given = [_UnsureInput(item, textual=True) for item in (*self._source.calls, *admitted)]
        yield from self._unsure(iter(given), "given", costs.given)
        if not self._source.timeable:
            self._learn()
        edges = (_UnsureInput(_edge_input(edge), edge.textual, edge.key) for edge in islice(self._edges(), MOST_EDGES))
        yield from self._unsure(edges, "edges", fmean(one.cost for one in self._bases) if self._bases else CHEAP)

    def _drawn(self, costs: Costs) -> Iterator[Step | Fault]:
        """Yields what generators draw, and recorded cases."""
        lost: set[int | None] = set()
        for item in self._planned(costs):
            if item.size in lost:
                continue
            cost = costs.of(item)
            expected, again = self._met(item, cost)
            if isinstance(expected, Fault):
                if item.size in self._source.sizes or item.size is None:
                    yield BaselineLost(Reason.NONDETERMINISTIC, f"the baseline: {expected.detail}")
                    return
                lost.add(item.size)  # a size that nobody listed and the baseline cannot do
                continue
            outcome = expected[0]
            if item.size is None or item.size in self._source.sizes:
                self._natural.add(self._raised(outcome))
            elif self.asked(outcome, textual=False) is RequiredOutcome.NOTHING:
                self.discarded += 1
                continue
            yield self._step(item, expected, cost, RequiredOutcome.SAME, promised=True, again=again)

    def _planned(self, costs: Costs) -> Iterator[Input]:
        """Yields as many of the planned inputs as the baseline's cost allows, and notes what is left out."""
        recorded = [*self._source.cases, *self._source.recorded]
        most = len(recorded)
        if costs.cases > CHEAP:
            most = affordable(costs.cases, CASES_SECONDS, FEWEST_CASES, len(recorded))
        if most < len(recorded):
            self.cut["recorded"] = Cut(most, len(recorded))
        kept = set(spread(recorded, most))

        def limit(draw: Draw) -> int:
            return affordable(costs.of_size(draw.size), DRAWN_SECONDS, draw.fewest, draw.most)

        drawn: Counter[int] = Counter()
        for item in plan(self._source, self._seed, limit):
            if item.size is not None:
                drawn[item.size] += 1
            elif item not in kept:
                continue
            yield item
        asked = draws(self._source, self._seed)
        if left_out := sum(draw.most - limit(draw) for draw in asked):
            smallest = self._source.sizes[0]
            added = max(0, drawn[smallest] - sum(limit(draw) for draw in asked if draw.size == smallest))
            self.cut["drawn"] = Cut(drawn.total(), drawn.total() + left_out - added)

    def _raised(self, outcome: bytes) -> str:
        if self._program:
            code = decode_run(outcome).code
            return str(code) if code else ""
        return "" if outcome.startswith(VALUE) else decode_call(outcome).error

    def _met(self, item: Input, cost: float) -> tuple[CallResult, bytes | None]:
        """Returns what the baseline makes of an input, and the outcome when a cheap one comes once more in a row."""
        once = self._program or cost > CHEAP
        with closing(self.ours.calls([item.payload] * (1 if once else 2), self._seconds)) as answers:
            first = next(answers)
            again = None if once or isinstance(first, Fault) else next(answers)
        return first, None if again is None or isinstance(again, Fault) else again[0]

    def _step(
        self,
        item: Input,
        answer: tuple[bytes, float],
        cost: float,
        asked: RequiredOutcome,
        promised: bool = False,
        again: bytes | None = None,
    ) -> Step:
        step = Step(item, *answer, cost, input_hash(item), asked, again, promised, self.discarded)
        self.discarded = 0
        if asked is RequiredOutcome.SAME:
            self.met.append(step)
        return step

    def _rearranged(self, cost: float) -> Iterator[Step]:
        """Yields recorded cases with their values in other places: each case once, more where that is cheap.

        All else of them is public, so that a candidate could know it by heart.
        """
        cases = [one.item.payload for one in self.met]
        most = max(len(cases), affordable(cost, EDGE_SECONDS, FEWEST_EDGES, MOST_EDGES))
        number = 0
        for number, edge in enumerate(rearranged(cases, derive(self._seed, "rearranged")), 1):
            if number > most or (number > len(cases) and self._trouble >= MOST_TROUBLE):
                self._note_cut("edges", number - 1, max(MOST_EDGES, len(cases)))
                return
            trial = _UnsureInput(_edge_input(edge), edge.textual)
            answer = self.ours.call(trial.item.payload, self._seconds)
            if step := self._tried(trial, answer, cost):
                yield step

    def _learn(self) -> None:
        """Takes what was met for what the target is for."""
        usable = sorted((one for one in self.met if one.cost <= MODERATE), key=_payload_size)
        if len(usable) < FEW_EXAMPLES:  # else what is slow at every size would not be edited at all
            usable = sorted(self.met, key=lambda one: (one.cost, _payload_size(one)))[:FEWEST_BASES]
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

    def _unsure(self, trials: Iterator[_UnsureInput], stage: str, cost: float) -> Iterator[Step]:
        """Yields inputs that may lie outside the domain; what the baseline makes of them decides.

        Args:
            trials: the inputs.
            stage: for the evidence.
            cost: of one of them to the baseline: the mean of their classes.
        """
        most = affordable(cost, EDGE_SECONDS, FEWEST_EDGES, MOST_EDGES)
        seconds = max(EDGE_CALL_SECONDS, EDGE_CALL_COSTS * cost) * (PROGRAM_SHARE if self._program else 1)
        made = 0
        while made < most and self._trouble < MOST_TROUBLE and (batch := list(islice(trials, BATCH))):
            valid = self._source.valid([trial.item.payload for trial in batch])
            kept = [trial for trial, held in zip(batch, valid, strict=True) if held]
            self.discarded += len(batch) - len(kept)
            met = kept[: most - made]
            steps = []
            with closing(self.ours.calls([trial.item.payload for trial in met], CpuLimit(seconds))) as answers:
                for trial, answer in zip(met, answers, strict=True):
                    steps.append(self._tried(trial, answer, cost_class(cost)))
                    if self._trouble >= MOST_TROUBLE:
                        break
            made += len(steps)
            trials = chain(kept[len(steps) :], trials)
            yield from filter(None, steps)
        if left_out := sum(1 for _ in trials):
            self._note_cut(stage, made, made + left_out)

    def _note_cut(self, stage: str, tried: int, planned: int) -> None:
        self.cut[stage] = Cut(tried, planned, self._trouble if self._trouble >= MOST_TROUBLE else 0)

    def _tried(self, trial: _UnsureInput, answer: CallResult, cost: float) -> Step | None:
        """Returns an input that nobody promised, unless the baseline's outcome asks nothing of others."""
        if isinstance(answer, Fault):
            self._trouble += 1
            self._barred.add(trial.key)
            self.discarded += 1
            return None
        asked = self.asked(answer[0], trial.textual)
        if asked is RequiredOutcome.NOTHING:
            self.discarded += 1
            return None
        return self._step(trial.item, answer, cost, asked)

    def asked(self, outcome: bytes, textual: bool) -> RequiredOutcome:
        """Returns what the baseline's outcome on an input outside the workload asks of a candidate."""
        if self._program:
            code = decode_run(outcome).code
            return RequiredOutcome.SAME if code == 0 or str(code) in self._natural else RequiredOutcome.NOTHING
        if outcome.startswith(VALUE):
            return RequiredOutcome.SAME
        return wanted(decode_call(outcome), self._source.text, frozenset(self._natural), textual)


def of_known_modules(edges: Iterable[Edge], drawn: Iterable[Any]) -> Iterator[Edge]:
    """Yields edits of what a torch module is called with; one of how it is constructed makes another problem."""
    known = {_construction(value) for value in drawn}
    yield from (edge for edge in edges if any(_construction(value) in known for value in _readable([edge.payload])))


def _construction(given: Any) -> bytes:
    """Returns what an input of a torch module says of its constructor; see `whet.evaluators.kernels.problem`."""
    return next(write(value) for _, name, value in given.state if name == "init")


def _edge_input(edge: Edge) -> Input:
    return Input(f"an edited input ({edge.name})", edge.payload, source=EDITED)


def _payload_size(one: ComparedInput) -> int:
    return len(one.item.payload)


def _readable(payloads: Iterable[bytes]) -> Iterator[Any]:
    """Yields inputs as plain data, but for those that cannot be walked through."""
    for payload in payloads:
        try:
            yield read(payload)
        except (CodecError, RecursionError):
            continue
