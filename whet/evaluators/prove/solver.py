"""Questions to z3, with a limit on each."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

import claripy
import z3

from whet.evaluators.prove.image import OutOfTime

Model = Callable[[Any], int]
"""What a value comes to where the question was answered with yes."""


class Solver:
    """Asks whether conditions can hold together.

    Args:
        deadline: of `time.monotonic`, for all questions.
        seconds: for each.
    """

    def __init__(self, deadline: float, seconds: float) -> None:
        self.deadline, self.seconds = deadline, seconds

    def ask(self, conditions: Iterable[Any], what: str) -> Model | None:
        """Returns a model of conditions, or None where no values meet them.

        Args:
            conditions: of claripy's.
            what: is asked, for the error.

        Raises:
            OutOfTime: the solver found no answer in time.
        """
        given = [one for one in conditions if not one.is_true()]
        if any(one.is_false() for one in given):
            return None
        return self.ask_z3([to_z3(one) for one in given], what)

    def ask_z3(self, conditions: list[Any], what: str) -> Model | None:
        """Returns the same for conditions of z3's own."""
        left = min(self.seconds, self.deadline - time.monotonic())
        if left <= 0:
            raise OutOfTime(f"time was over before it was asked whether {what}")
        floats = any(_has_floats(one) for one in conditions)
        if floats:
            conditions = _commuted(conditions)
        solver = z3.SolverFor("QF_FPBV" if floats else "QF_BV")
        solver.set("timeout", max(1, int(left * 1000)))
        solver.add(*conditions)
        answer = solver.check()
        if answer == z3.unsat:
            return None
        if answer != z3.sat:
            raise OutOfTime(f"the solver could not tell in {left:.1f} s whether {what}")
        model = solver.model()

        def value(one: Any) -> int:
            found = model.eval(one if isinstance(one, z3.ExprRef) else to_z3(one), model_completion=True)
            if isinstance(found, z3.BoolRef):
                return int(z3.is_true(found))
            number: int = found.as_long()
            return number

        return value


def same(one: Any, two: Any) -> bool:
    """Returns whether two whole numbers are the same already by the laws of sums: cheap, and a no means nothing."""
    difference = z3.simplify(to_z3(one) - to_z3(two), som=True)
    return bool(z3.is_bv_value(difference)) and difference.as_long() == 0


def to_z3(one: Any) -> Any:
    """Returns a condition or value of claripy's as one of z3's."""
    return claripy.backends.z3.convert(one)


def _commuted(terms: Iterable[Any]) -> list[Any]:
    """Returns terms in which operands of sums and products of floats stand in one order, as z3 does for integers."""
    done: dict[int, tuple[Any, Any]] = {}

    def walk(one: Any) -> Any:
        if one.get_id() not in done:
            kids = [walk(kid) for kid in one.children()]
            if kids and one.decl().kind() in (z3.Z3_OP_FPA_ADD, z3.Z3_OP_FPA_MUL):
                kids[1:] = sorted(kids[1:], key=lambda kid: int(kid.get_id()))
            # the term itself is kept too, so that its number is not given to another one
            done[one.get_id()] = one, (one.decl()(*kids) if kids else one)
        return done[one.get_id()][1]

    return [walk(one) for one in terms]


def _has_floats(one: Any) -> bool:
    seen: set[int] = set()
    waiting = [one]
    while waiting:
        here = waiting.pop()
        if here.get_id() in seen:
            continue
        seen.add(here.get_id())
        if z3.is_fp(here) or z3.is_fprm(here):
            return True
        waiting += here.children()
    return False
