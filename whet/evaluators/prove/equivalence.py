"""Compares two functions case by case: every path of the one with every path of the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import claripy

from whet.core.signature import Signature
from whet.evaluators.prove.calling import bits, floating
from whet.evaluators.prove.cases import Case
from whet.evaluators.prove.execution import RETURNED, Path, PathExploration, run
from whet.evaluators.prove.image import Image, Undecided
from whet.evaluators.prove.layout import Layout, expect_small, layout, plain, values
from whet.evaluators.prove.nans import hangs_on_nan
from whet.evaluators.prove.proof import Block, Plain
from whet.evaluators.prove.second import SecondOpinion, second_opinion
from whet.evaluators.prove.solver import Model, Solver, same


@dataclass(frozen=True, slots=True)
class Wrong:
    """Inputs on which the candidate is wrong, as the engines have it.

    Attributes:
        values: of each argument.
        what: is wrong, in words.
        block: of the candidate.
    """

    values: Mapping[str, Plain]
    what: str
    block: Block | None


@dataclass(frozen=True, slots=True)
class CaseResult:
    """What came of one case.

    Attributes:
        wrong: None where both sides are equivalent.
        paths: of the baseline and of the candidate.
        compared: in words.
        reached: offsets of the candidate's instructions that were run.
        floats: whether floats are computed with.
        second: what the second engine says.
    """

    wrong: Wrong | None
    paths: tuple[int, int]
    compared: tuple[str, ...]
    reached: tuple[int, ...]
    floats: bool
    second: SecondOpinion


class CaseComparison:
    """One case of two functions.

    Args:
        images: of the baseline and of the candidate.
        signature: the contract.
        case: sizes and places.
        solver: that is asked.
    """

    def __init__(self, images: tuple[Image, Image], signature: Signature, case: Case, solver: Solver) -> None:
        self.images, self.signature, self.solver = images, signature, solver
        if why := expect_small(signature, case):
            raise Undecided(why)
        self.inputs: Layout = layout(signature, case)

    def found(self) -> CaseResult:
        """Returns what came of it.

        Raises:
            Undecided: the engines cannot tell, or what they say would be worth nothing.
        """
        contract = self.inputs.contract
        if self.solver.ask(contract, "any input keeps to the contract") is None:
            raise Undecided("no input keeps to the contract, so nothing would be proved")
        baseline, candidate = (self._run(side) for side in (0, 1))
        self._expect_sound(baseline)
        wrong = self._faulty(candidate)
        if wrong is None:
            self._expect_covered(candidate, "the candidate")
            wrong = self._wrong(baseline, candidate)
        second = SecondOpinion(None, "not asked of a counterexample")
        if wrong is None:
            second = second_opinion(self.images, self.signature, self.inputs, (baseline, candidate), self.solver)
        start = self.images[1].start
        return CaseResult(
            wrong,
            (len(baseline.paths), len(candidate.paths)),
            tuple(_words(baseline, candidate)),
            tuple(sorted(at - start for at in candidate.reached if self.images[1].inside(at))),
            baseline.arithmetic or candidate.arithmetic,
            second,
        )

    def _run(self, side: int) -> PathExploration:
        return run(self.images[side], self.signature, self.inputs, self.solver.deadline, self.solver.seconds)

    def _expect_covered(self, made: PathExploration, name: str) -> None:
        """Meets the proof that proves nothing: paths that were lost, that never return, or that were not followed."""
        if made.stopped is not None:
            raise type(made.stopped)(f"{name}: {made.stopped}")
        if not made.paths:
            raise Undecided(f"{name}: no path returns")
        ends = [one.condition for one in made.paths] + [one.condition for one in made.faults]
        lost = claripy.Not(claripy.Or(*ends))
        if self.solver.ask([*self.inputs.contract, lost], f"the paths of {name} cover all inputs") is not None:
            raise Undecided(f"{name}: its paths do not cover all inputs")

    def _expect_sound(self, baseline: PathExploration) -> None:
        for fault in baseline.faults:
            if (model := self.solver.ask([fault.condition], "the baseline has a fault")) is not None:
                told = _told(values(self.signature, self.inputs, self._numbers(model)))
                raise Undecided(f"the baseline itself {fault.what} ({self.images[0].told(fault.address)}) for {told}")
        self._expect_covered(baseline, "the baseline")
        for path in baseline.paths:
            for name, (before, after) in path.kept.items():
                if self.solver.ask([path.condition, before != after], f"{name} is kept") is not None:
                    raise Undecided(f"the baseline itself does not keep {name}")

    def _faulty(self, candidate: PathExploration) -> Wrong | None:
        for fault in candidate.faults:
            if (model := self.solver.ask([fault.condition], "the candidate has a fault")) is not None:
                what = f"{fault.what} ({self.images[1].told(fault.address)})"
                return self._counterexample(model, what, fault.address)
        return None

    def _wrong(self, baseline: PathExploration, candidate: PathExploration) -> Wrong | None:
        for path in candidate.paths:
            for name, (before, after) in path.kept.items():
                if (model := self.solver.ask([path.condition, before != after], f"{name} is kept")) is not None:
                    return self._counterexample(model, f"does not leave {name} as it was", path.writers.get(name))
        for name in baseline.paths[0].results:
            if (wrong := self._differs(name, baseline, candidate)) is not None:
                return wrong
        return None

    def _differs(self, name: str, baseline: PathExploration, candidate: PathExploration) -> Wrong | None:
        ours, theirs = (_merged(one.paths, name) for one in (baseline, candidate))
        kind = self.kind(name)
        if any(hangs_on_nan(one, bits(kind) if floating(kind) else 0) for one in (ours, theirs)):
            raise Undecided(f"{name} hangs on the bits of computed floats, and those of a NaN are not known")
        pairs = [
            _unequal(one, two, kind)
            for one, two in _elements(ours, theirs, kind)
            if floating(kind) or not same(one, two)
        ]
        different = claripy.Or(claripy.false(), *pairs)
        conditions = [*self.inputs.contract, different]
        if (model := self.solver.ask(conditions, f"{name} is the same on both sides")) is None:
            return None
        taken = next(path for path in candidate.paths if model(path.condition))
        at, pair = next(
            (i, pair) for i, pair in enumerate(_elements(ours, theirs, kind)) if model(_unequal(*pair, kind))
        )
        expected, got = (plain(kind, model(one)) for one in pair)
        where = name if name == RETURNED else f"{name}[{at}]"
        what = f"{where} is {got}, and must be {expected}"
        foreign = (ours.variables | theirs.variables) - self.inputs.variables()
        if foreign:
            what += "; it depends on what nobody passed: on bits above an argument, or on what was left on the stack"
        return self._counterexample(model, what, taken.writers.get(where))

    def kind(self, name: str) -> str:
        """Returns the type of the elements of a result."""
        if name == RETURNED:
            assert self.signature.returns is not None
            return self.signature.returns
        return self.inputs.buffers[name].argument.type

    def _counterexample(self, model: Model, what: str, address: int | None) -> Wrong:
        block = self.images[1].block(address) if address is not None else None
        return Wrong(values(self.signature, self.inputs, self._numbers(model)), what, block)

    def _numbers(self, model: Model) -> dict[Any, int]:
        found = [*self.inputs.numbers.values()]
        found += [one for buffer in self.inputs.buffers.values() for one in buffer.elements]
        return {one.hash(): model(one) for one in found}


def _merged(paths: Iterable[Path], name: str) -> Any:
    first, *others = paths
    return claripy.ite_cases([(one.condition, one.results[name]) for one in others], first.results[name])


def _elements(one: Any, two: Any, kind: str) -> Iterator[tuple[Any, Any]]:
    width = bits(kind)
    for low in range(0, one.length, width):
        yield one[low + width - 1 : low], two[low + width - 1 : low]


def _unequal(one: Any, two: Any, kind: str) -> Any:
    """Returns the condition under which two elements differ; of floats any two that are no number count as the same."""
    if not floating(kind):
        return one != two
    return claripy.And(
        one != two, claripy.Not(claripy.And(claripy.fpIsNaN(one.raw_to_fp()), claripy.fpIsNaN(two.raw_to_fp())))
    )


def _words(baseline: PathExploration, candidate: PathExploration) -> Iterator[str]:
    for name in baseline.paths[0].results:
        yield name if name == RETURNED else f"the contents of {name}"
    if candidate.paths:
        yield "that nothing else is written and nothing outside of the buffers is read"
        yield "that " + ", ".join(candidate.paths[0].kept) + " are as they were"


def _told(given: Mapping[str, Plain]) -> str:
    return ", ".join(f"{name}={value}" for name, value in given.items())[:300]
