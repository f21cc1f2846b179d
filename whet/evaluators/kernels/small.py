"""Shapes of a problem that Triton's interpreter gets through: it runs a block after the other, in numpy."""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping

from whet.evaluators.finding import Fault
from whet.evaluators.kernels.scaling import assigned, names_in
from whet.evaluators.screen import parse

ELEMENTS, FEWER_ELEMENTS = 1 << 13, 1 << 10
"""Of a tensor, at most: the differential rung meets tens of inputs, and the interpreter runs a block in some 5 ms.

Fewer are for an answer whose blocks take longer.
"""
SMALLEST_BATCH = 2
"""Least value of the first dimension: with a batch of 1, a wrong stride between its elements would not show. A larger
one leaves fewer elements of `ELEMENTS` to the other dimensions."""
SMALLEST = 128
"""Of other dimensions, at first: below a block of most kernels they show faults that the problem's shapes do not."""
SMALLEST_OUTER, SMALLEST_INNER = 4, 32
"""Where that is not enough; an inner one is the last that a tensor names."""


def small_scale(source: str, constructor: bool = True, elements: int = ELEMENTS) -> Mapping[str, tuple[int, int]]:
    """Returns numbers at the top of a problem, made smaller: name -> (was, is); empty where they are small as they are.

    The names that a call in ``get_inputs`` is given are taken for the dimensions of a tensor, and so are those that the
    constructor is given. The name that comes first in the inputs, the batch as a rule, goes down first, unless the
    constructor needs it or a tensor has it twice; then the others, those of the constructor last. Numbers that others
    are calculated from stay.

    Args:
        source: the problem's text.
        constructor: whether numbers that the constructor alone needs may go down too.
        elements: of a tensor, at most.
    """
    module = parse(source)
    if isinstance(module, Fault):
        return {}
    numbers = {name: value for name, value, _ in assigned(module) if value > 0}
    rests_on = [node.value for node in module.body if isinstance(node, ast.Assign) and len(node.targets) == 1]
    fixed = set().union(*map(names_in, rests_on))
    inputs, init = (_in_order(module, name, numbers) for name in ("get_inputs", "get_init_inputs"))
    tensors = _calls(module, "get_inputs", numbers) or [inputs]
    free = [name for name in dict.fromkeys([*inputs, *(init if constructor else ())]) if name not in fixed]
    square = {name for shape in tensors for name in shape if shape.count(name) > 1}
    batch = [name for name in inputs[:1] if name in free and name not in init and name not in square]
    inner = {shape[-1] for shape in tensors if shape}
    others = sorted((name for name in free if name not in batch), key=lambda name: name in init)
    steps = [(name, SMALLEST_BATCH) for name in batch]
    steps += [(name, SMALLEST) for name in others]
    steps += [(name, SMALLEST_OUTER) for name in others if name not in inner]
    steps += [(name, SMALLEST_INNER) for name in others if name in inner]
    scaled = {name: numbers[name] for name in (*inputs, *init)}
    shapes = [*tensors, init] if constructor else tensors
    for name, least in steps:
        while scaled[name] >= 2 * least and any(
            name in shape and math.prod(scaled[one] for one in shape) > elements for shape in shapes
        ):
            scaled[name] //= 2
    return {name: (numbers[name], value) for name, value in scaled.items() if value != numbers[name]}


def _in_order(module: ast.Module, function: str, numbers: Mapping[str, int]) -> list[str]:
    """Returns the names of numbers in a function, as they come, each once."""
    return list(dict.fromkeys(name for body in _bodies(module, function) for name in _names(body, numbers)))


def _calls(module: ast.Module, function: str, numbers: Mapping[str, int]) -> list[list[str]]:
    """Returns the names of numbers that each call in a function is given, as often as they stand there."""
    calls = [node for body in _bodies(module, function) for node in ast.walk(body) if isinstance(node, ast.Call)]
    return [given for call in calls if (given := [name for one in call.args for name in _names(one, numbers)])]


def _bodies(module: ast.Module, function: str) -> list[ast.FunctionDef]:
    return [node for node in module.body if isinstance(node, ast.FunctionDef) and node.name == function]


def _names(part: ast.AST, numbers: Mapping[str, int]) -> list[str]:
    names = [node for node in ast.walk(part) if isinstance(node, ast.Name) and node.id in numbers]
    return [node.id for node in sorted(names, key=lambda node: (node.lineno, node.col_offset))]
