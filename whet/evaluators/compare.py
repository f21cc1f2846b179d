"""Compares an outcome with the expected one, outside the sandbox, as plain data."""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from whet.core.task import OracleRule, Tolerance
from whet.core.text import count
from whet.core.verdict import Reason
from whet.evaluators.floats.elements import ARRAYS, Layout, elements, is_inexact, overlapping
from whet.evaluators.floats.leaves import (
    ARGUMENTS,
    FORCED,
    INSTANCE,
    RESULT,
    Groups,
    attribute_path,
    outcome_leaves,
)
from whet.evaluators.floats.rules import alike, by_tolerance
from whet.evaluators.outcomes import CallOutcome, decode_call
from whet.evaluators.own_state import comparable
from whet.evaluators.sharing import TooLarge, unshared
from whet.sandbox.inside.codec import FILES, CodecError
from whet.sandbox.inside.decode import Node, Ref

SHOWN = 160
"""Characters of a value that a message shows. More cost tokens of the Coder, which reads it; fewer cut off more of what
differs."""
LONGEST_PLACE = 400
"""Characters of the place at which an exception was raised, which the candidate's process tells. More cost tokens of
the Coder; fewer may cut the place off."""
LARGEST_SHOWN = 512  # bits
MOST_ITEMS = 24
"""Items of a row that are shown."""
POSITIONAL = re.compile(rf"\b{ARGUMENTS}\[0\]\[(\d+)\]")
BY_NAME = re.compile(rf"\b{ARGUMENTS}\[1\]\['(\w+)'\]")
BEFORE = 16
"""Characters before the first one that differs, to find it by."""
PRINTED = 1e-9
"""How near a printed number must be, relatively or absolutely, where the task does not say."""
MALFORMED = (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, RecursionError)
"""What walking through a value raises whose parts are not what their kind promises."""


JudgeFloats = Callable[[Groups, Groups], str]
"""Says where the floats of the candidate's outcome (second) are wrong; an empty string where they are right."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Where and how an outcome differs from the expected one."""

    reason: Reason
    detail: str


def difference(
    expected: bytes, actual: bytes, rule: OracleRule, floats: JudgeFloats | None = None, *, sharing: bool = True
) -> Difference | None:
    """Compares two outcomes as `whet.sandbox.inside.invocation.stored` writes them.

    Args:
        expected: the baseline's; trusted to be well-formed.
        actual: the candidate's; hostile.
        rule: what counts.
        floats: judges floats that differ; None for the rule's tolerance, without the baseline's own error.
        sharing: whether it counts what the result shares, within itself and with the arguments.

    Returns:
        None where they agree.
    """
    if expected == actual:
        return None
    try:
        theirs = decode_call(actual)
    except CodecError as error:
        return Difference(Reason.SANDBOX_VIOLATION, f"the outcome is no plain data: {error}")
    except ValueError as error:
        return Difference(Reason.SANDBOX_VIOLATION, f"the outcome is {error}")
    try:
        ours, theirs = comparable(expected, decode_call(expected), actual, theirs)
        found = _difference(ours, theirs, rule)
        if isinstance(found, Difference) and not sharing:
            with suppress(TooLarge):
                found = _difference(unshared(ours), unshared(theirs), rule)
    except MALFORMED as error:
        return Difference(Reason.SANDBOX_VIOLATION, f"the outcome is not in the form that the harness writes: {error}")
    return _judged(found, floats or by_tolerance(rule.tolerance))


def plain_difference(
    ours: CallOutcome, theirs: CallOutcome, rule: OracleRule, floats: JudgeFloats | None = None
) -> Difference | None:
    """Compares two outcomes that are decoded."""
    return _judged(_difference(ours, theirs, rule), floats or by_tolerance(rule.tolerance))


def _judged(found: Difference | tuple[Groups, Groups] | None, floats: JudgeFloats) -> Difference | None:
    if not isinstance(found, tuple):
        return found and replace(found, detail=_named(found.detail))
    where = floats(*found)
    if not where:
        return None
    reason = Reason.MUTATED_INPUT if where.startswith(ARGUMENTS) else Reason.WRONG_OUTPUT
    return Difference(reason, _named(where if where.startswith(RESULT) else f"after the call, {where}"))


def _named(detail: str) -> str:
    """Returns a text whose paths name arguments as a caller counts or names them."""
    text = POSITIONAL.sub(lambda found: f"argument {int(found[1]) + 1}", detail)
    return BY_NAME.sub(r"argument \1", text)


def _difference(ours: CallOutcome, theirs: CallOutcome, rule: OracleRule) -> Difference | tuple[Groups, Groups] | None:
    """Returns the first difference; where only floats differ, those of both sides."""
    walk = _Walk(rule)
    raised = ours.kind == "raise"
    if ours.kind != theirs.kind or (raised and ours.value[0] != theirs.value[0]):
        return _other_kind(ours, theirs)
    if where := walk.compare(ours.after, theirs.after, ARGUMENTS):
        return Difference(Reason.MUTATED_INPUT, f"after the call, {where}")
    if where := walk.compare(ours.instance, theirs.instance, INSTANCE):
        return Difference(Reason.WRONG_OUTPUT, f"after the call, {where}")
    if not raised and (where := walk.compare(ours.value, theirs.value, RESULT)):
        return Difference(Reason.WRONG_OUTPUT, where)
    if rule.exception_messages and raised and ours.value[:2] != theirs.value[:2]:
        return _other_kind(ours, theirs)
    if ours.stdout != theirs.stdout:
        return Difference(Reason.WRONG_OUTPUT, f"stdout: {_unequal(ours.stdout, theirs.stdout)}")
    if not walk.floats_differ:
        return None
    floats = outcome_leaves(ours), outcome_leaves(theirs)
    if not alike(*floats) or len(floats[0]) != len(floats[1]):
        raise ValueError("floats of another number")
    return floats


def _other_kind(ours: CallOutcome, theirs: CallOutcome) -> Difference:
    if theirs.kind == "memory":
        return Difference(Reason.OUT_OF_MEMORY, "MemoryError")
    said = describe(theirs)
    if theirs.kind == "raise" and (place := str(theirs.value[2])[:LONGEST_PLACE]):
        said += f" ({place})"
    if theirs.kind == "unstorable":
        return Difference(Reason.WRONG_OUTPUT, f"expected {describe(ours)}, got {said}")
    return Difference(Reason.WRONG_EXCEPTION, f"expected {describe(ours)}, got {said}")


def describe(outcome: CallOutcome) -> str:
    """Returns an outcome in a few words."""
    if outcome.kind == "raise":
        return f"{outcome.exception}({show(outcome.value[1])})"
    return f"the value {show(outcome.value)}" if outcome.kind == "value" else str(outcome.value or outcome.kind)


def show(value: Any) -> str:
    """Returns a value as short text."""
    text = _text(value, 0)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"


def _text(value: Any, depth: int) -> str:
    if depth > 6:
        return "…"
    if isinstance(value, Ref):
        return "<the same object again>"
    if isinstance(value, Node):
        return _node_text(value, depth)
    if isinstance(value, (list, tuple)):
        shown = [_text(item, depth + 1) for item in value[:MOST_ITEMS]] + (["…"] if len(value) > MOST_ITEMS else [])
        inner = ", ".join(shown)
        if isinstance(value, list):
            return f"[{inner}]"
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if isinstance(value, int) and value.bit_length() > LARGEST_SHOWN:  # Python refuses to write it
        return f"an integer of {value.bit_length()} bits"
    return repr(value[: 2 * SHOWN] if isinstance(value, (str, bytes)) else value)


def _node_text(node: Node, depth: int) -> str:
    name = node.name.rpartition(":")[2]
    if node.kind == "dict":
        pairs = [f"{_text(k, depth + 1)}: {_text(v, depth + 1)}" for _, k, v in node.state[:24]]
        return "{" + ", ".join(pairs) + (", …" if len(node.state) > 24 else "") + "}"
    if node.kind in ("set", "frozenset"):
        return f"{node.kind}({_text(list(node.state), depth + 1)})"
    if node.kind in ARRAYS:
        shown = _text(elements(node).ravel()[:8].tolist(), depth + 1)
        return f"{node.kind}({node.state[0]}, shape {node.state[1]}, {shown}{'…' if len(node.state[2]) > 64 else ''})"
    if node.name in FORCED:
        return f"of {_text(node.state[0][1], depth + 1)}"
    if node.kind == "object":
        return f"{name}({', '.join(f'{field}={_text(value, depth + 1)}' for field, value in node.state[:24])})"
    return f"{name or node.kind}({_text(node.state, depth + 1)})"


def _cut(value: Any) -> bool:
    return show(value).endswith("…")


def _unequal(a: Any, b: Any) -> str:
    """Tells of two unequal scalars: of long texts the part around the first place that differs."""
    if not isinstance(a, (str, bytes, bytearray)) or max(len(a), len(b)) <= SHOWN // 2:
        return f"expected {show(a)}, got {show(b)}"
    at = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    begin, end = max(0, at - BEFORE), at + SHOWN // 4
    before = "…" if begin else ""
    ours, theirs = (f"{before}{value[begin:end]!r}{'…' if len(value) > end else ''}" for value in (a, b))
    return f"they differ from index {at} on, of {len(a)} and {len(b)}: expected {ours}, got {theirs}"


class _Walk:
    """Walks two plain values side by side; containers are numbered in the order of writing.

    Floats that differ are no difference here: they are judged together when all else agrees.
    """

    def __init__(self, rule: OracleRule, exact: bool = False) -> None:
        self.rule = rule
        self.exact = exact
        self.floats_differ = False
        self.ours: list[str] = []
        self.theirs: list[str] = []

    def compare(self, a: Any, b: Any, path: str) -> str:
        """Returns where and how two values differ, or an empty string."""
        if isinstance(a, Ref) or isinstance(b, Ref):
            return self.references(a, b, path)
        if type(a) is not type(b):
            return f"{path}: expected {kind_of(a)} {show(a)}, got {kind_of(b)} {show(b)}"
        if isinstance(a, Node):
            return self.nodes(a, b, path)
        if isinstance(a, (list, tuple)):
            if isinstance(a, list):
                self.number(path)
            return self.items(a, b, path)
        if isinstance(a, bytearray):
            self.number(path)
        if isinstance(a, (float, complex)) and not self.exact:
            self.floats_differ = self.floats_differ or repr(a) != repr(b)
            return ""
        return "" if a == b else f"{path}: {_unequal(a, b)}"

    def number(self, path: str) -> None:
        self.ours.append(path)
        self.theirs.append(path)

    def references(self, a: Any, b: Any, path: str) -> str:
        if isinstance(a, Ref) and isinstance(b, Ref):
            if self.ours[a.index : a.index + 1] == self.theirs[b.index : b.index + 1]:
                return ""
            return f"{path}: is the same object as something else than expected"
        if isinstance(a, Ref):
            return f"{path}: expected the same object as {_path(self.ours, a)}, got {show(b)}"
        return f"{path}: expected a fresh {kind_of(a)}, got the same object as {_path(self.theirs, b)}"

    def items(self, a: Sequence[Any], b: Sequence[Any], path: str) -> str:
        if len(a) != len(b):
            return f"{path}: {self.lengths(a, b)}"
        if not self.exact and set(map(type, a)) == {float} == set(map(type, b)):
            self.floats_differ = self.floats_differ or array("d", a).tobytes() != array("d", b).tobytes()
            return ""
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            if where := self.compare(x, y, f"{path}[{i}]"):
                return where
        return ""

    def lengths(self, a: Sequence[Any], b: Sequence[Any]) -> str:
        """Tells of two rows of other lengths: whole where they are short, else by the first item that differs."""
        if max(len(a), len(b)) <= MOST_ITEMS and not (_cut(a) or _cut(b)):
            return f"expected {count(len(a), 'item')} {show(a)}, got {count(len(b), 'item')} {show(b)}"
        said = f"expected {count(len(a), 'item')}, got {len(b)}"
        for i, (x, y) in enumerate(zip(a, b, strict=False)):
            if _Walk(self.rule, exact=True).compare(x, y, ""):
                return f"{said}; the first that differs is [{i}]: expected {show(x)}, got {show(y)}"
        shorter, longer = (a, b) if len(a) < len(b) else (b, a)
        what = "lacks" if longer is a else "adds"
        return f"{said}; it {what} from [{len(shorter)}] on: {show(longer[len(shorter)])}"

    def nodes(self, a: Node, b: Node, path: str) -> str:
        if (a.kind, a.name) != (b.kind, b.name):
            return f"{path}: expected {kind_of(a)} {show(a)}, got {kind_of(b)} {show(b)}"
        if a.numbered:
            self.number(path)
        if a.kind == "dict":
            return self.dicts(a, b, path)
        if a.kind in ARRAYS:
            return self.arrays(a, b, path)
        if a.kind in ("set", "frozenset"):
            return _Walk(self.rule, exact=True).items(a.state, b.state, path)
        if a.kind == "object":
            return self.fields(a, b, path)
        if a.name in FILES and a.state is not None and b.state is not None:
            pairs = zip(("contents", "position"), a.state, b.state, strict=True)
            return next(filter(None, (self.compare(x, y, f"{path}, {what}") for what, x, y in pairs)), "")
        return self.compare(a.state, b.state, path)

    def fields(self, a: Node, b: Node, path: str) -> str:
        ours, theirs = ([name for name, _ in node.state] for node in (a, b))
        if ours != theirs:
            lost, new = (
                [name for name in names if name not in others] for names, others in ((ours, theirs), (theirs, ours))
            )
            return f"{path}: " + (f"expected an attribute {lost[0]}" if lost else f"got a new attribute {new[0]}")
        for (name, x), (_, y) in zip(a.state, b.state, strict=True):
            if where := self.compare(x, y, attribute_path(path, a, name)):
                return where
        return ""

    def dicts(self, a: Node, b: Node, path: str) -> str:
        theirs = {name: value for name, _, value in b.state}
        for name, key, value in a.state:
            if name not in theirs:
                return f"{path}: expected a key {show(key)}, got {show(b)}"
            if where := self.compare(value, theirs[name], f"{path}[{show(key)}]"):
                return where
        if len(a.state) != len(b.state):
            keys, others = count(len(a.state), "key"), count(len(b.state), "key")
            return f"{path}: expected {keys} {show(a)}, got {others} {show(b)}"
        if self.rule.dict_order and [name for name, _, _ in a.state] != [name for name, _, _ in b.state]:
            return f"{path}: the keys come in another order: expected {show(a)}, got {show(b)}"
        return ""

    def arrays(self, a: Node, b: Node, path: str) -> str:
        if a.state[:2] != b.state[:2]:
            return f"{path}: expected dtype {a.state[0]} shape {a.state[1]}, got {b.state[0]} {b.state[1]}"
        if a.kind != "scalar" and (where := self.layouts(a, b, path)):
            return where
        if a.state[2] == b.state[2]:
            return ""
        ours, theirs = elements(a), elements(b)
        if ours.shape != theirs.shape:
            raise ValueError("an array of another size than its shape")
        if is_inexact(ours) and not self.exact:
            self.floats_differ = True
            return ""
        for i, (x, y) in enumerate(zip(ours.ravel(), theirs.ravel(), strict=True)):
            if x.tobytes() != y.tobytes():
                return f"{path}: element {i} of {a.state[1]}: expected {x.tolist()!r}, got {y.tolist()!r}"
        return ""

    def layouts(self, a: Node, b: Node, path: str) -> str:
        """Compares what else of an array a caller could notice: what it shares memory with, what can be done to it."""
        ours, theirs = Layout(*a.state[3:]), Layout(*b.state[3:])
        if ours.traits != theirs.traits:
            return f"{path}: expected {_traits(ours)}, got {_traits(theirs)}"
        if (ours.shares is None) != (theirs.shares is None):
            paths, shares = (self.theirs, theirs.shares) if ours.shares is None else (self.ours, ours.shares)
            assert shares is not None
            said = f"memory that it shares with {_path(paths, Ref(shares[0]))}"
            return f"{path}: expected {'fresh memory' if ours.shares is None else said}, got " + (
                said if ours.shares is None else "fresh memory"
            )
        if ours.shares is not None and theirs.shares is not None:
            wanted, got = self.ours[ours.shares[0]], self.theirs[theirs.shares[0]]
            if wanted != got or ours.shares[1] != theirs.shares[1]:
                return (
                    f"{path}: shares memory with {got}, at {theirs.shares[1]}; expected {wanted}, at {ours.shares[1]}"
                )
        if self.rule.strides and ours.strides != theirs.strides:
            return f"{path}: expected strides {ours.strides}, got {theirs.strides}"
        if overlapping(b.state[1], theirs.strides) and not overlapping(a.state[1], ours.strides):
            return f"{path}: its elements share memory with each other (strides {theirs.strides})"
        return self.items(ours.attributes, theirs.attributes, f"{path}.__dict__")


def _path(paths: list[str], reference: Ref) -> str:
    return paths[reference.index] if reference.index < len(paths) else "an earlier one"


def _traits(layout: Layout) -> str:
    return "an array that is " + (", ".join(layout.traits) or "writable, on the CPU and has no gradient")


def kind_of(value: Any) -> str:
    """Returns a value's type as a user would name it."""
    if isinstance(value, Node):
        if value.name in FORCED:
            return "generator"
        return value.name.replace("builtins:", "").replace(":", ".") or value.kind
    return type(value).__name__


def stdout_difference(expected: bytes, actual: bytes, rule: OracleRule) -> Difference | None:
    """Compares what two programs printed: exactly but for trailing blanks, or as the rule loosens it."""
    ours, theirs = (text.decode("utf-8", "surrogateescape") for text in (expected, actual))
    if rule.stdout == "exact":
        a, b = ([line.rstrip() for line in text.rstrip().split("\n")] for text in (ours, theirs))
        unit = "line"
    else:
        a, b = ours.split(), theirs.split()
        unit = "word"
    for i, (x, y) in enumerate(zip(a, b, strict=False)):
        if x != y and not (rule.stdout == "floats" and _numbers_close(x, y, rule.tolerance)):
            return Difference(Reason.WRONG_OUTPUT, f"stdout, {unit} {i + 1}: expected {show(x)}, got {show(y)}")
    if len(a) != len(b):
        return Difference(Reason.WRONG_OUTPUT, f"stdout: expected {count(len(a), unit)}, got {len(b)}")
    return None


def _numbers_close(a: str, b: str, tolerance: Tolerance) -> bool:
    try:
        x, y = float(a), float(b)
    except ValueError:
        return False
    if math.isnan(x) or math.isnan(y):
        return math.isnan(x) and math.isnan(y)
    given = bool(tolerance.rtol or tolerance.atol)
    rtol, atol = (tolerance.rtol, tolerance.atol) if given else (PRINTED, PRINTED)
    return x == y or abs(x - y) <= atol + rtol * abs(x) < math.inf
