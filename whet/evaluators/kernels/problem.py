"""Problem files in KernelBench's form: a torch module, and functions that make its inputs.

A problem is a Python file with a class ``Model``, ``get_inputs()`` and ``get_init_inputs()``; an answer is one with a
class ``ModelNew`` of the same constructor and ``forward``. Inputs are drawn by the problem's own functions under secret
seeds, in a process that no candidate shares.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any

from whet.core.errors import UsageError
from whet.core.verdict import Reason
from whet.evaluators.finding import Fault
from whet.evaluators.screen import find_function, parameters, parse

MODEL, ANSWER = "Model", "ModelNew"
MAKERS = ("get_inputs", "get_init_inputs")
WEIGHTS = 2
"""Seeds of weights that a run draws from: to build a module anew for each input would take longer than to judge it."""
FIRST_WEIGHTS = 42
SLOT = "fn"
"""The argument of ``forward`` through which robust-kbench hands in the function that is judged."""

Setting = tuple[Mapping[str, Any], Mapping[str, Any]]
"""Keywords of the constructor and of ``get_inputs``."""
ONLY: Sequence[Setting] = (({}, {}),)
"""The one setting of a problem whose shapes are its own."""

GENERATOR = """\
# Made by whet from a problem file.
import copy
import importlib
import random

import torch

problem = importlib.import_module({module!r})
settings = {settings!r}
sizes = list(range(1, len(settings) + 1))
backward = {backward!r}


def make_input(size, rng):
    if size not in sizes:
        raise ValueError("a problem has the shapes that it has")
    keywords, shapes = settings[size - 1]
    seed = rng.getrandbits(62)
    weights = rng.randrange({weights}) + {first}
    torch.manual_seed(seed)
    random.seed(seed)
    with torch.no_grad():
        init = tuple(getattr(problem, "get_init_inputs", tuple)())
        args = tuple(problem.get_inputs(**shapes))
    given = {{"init": (weights, init, keywords), "args": args}}
    if backward:
        # Drawn here: a candidate that drew it could draw zeros.
        given["kwargs"] = {{"upstream": tuple(map(torch.randn_like, outputs(given)))}}
    return given


def make_input_signed(size, rng):
    # Many problems draw from [0, 1) alone, where for instance a rectifier does nothing.
    given = make_input(size, rng)
    moved = {{**given, "args": tuple(map(signed, given["args"]))}}
    try:
        sound = all(bool(one.isfinite().all()) for one in outputs(moved))
    except Exception:
        sound = False
    return moved if sound else given


def signed(value):
    if not isinstance(value, torch.Tensor) or not value.is_floating_point() or value.lt(0).any():
        return value
    return torch.where(value == 0, value, 4 * value - 2)


def outputs(given):
    weights, init, keywords = given["init"]
    torch.manual_seed(weights)
    with torch.no_grad():
        found = problem.Model(*init, **keywords)(*copy.deepcopy(given["args"]))
    found = found if isinstance(found, (tuple, list)) else (found,)
    return [one for one in found if isinstance(one, torch.Tensor) and one.is_floating_point()]
"""


def is_problem(source: str) -> bool:
    """Whether a text is a problem in KernelBench's form; one that does not parse is none."""
    module = parse(source)
    return not isinstance(module, Fault) and not missing(module)


def resembles_problem(source: str) -> bool:
    """Whether a text is meant as a problem: it knows torch, and defines one of the names."""
    module = parse(source)
    return not isinstance(module, Fault) and "torch" in source and len(missing(module)) <= len(MAKERS)


def missing(module: ast.Module, makers: Sequence[str] = MAKERS) -> list[str]:
    """Returns which of the names that a problem has to define a file lacks."""
    defined = {node.name for node in module.body if isinstance(node, ast.ClassDef | ast.FunctionDef)}
    return [name for name in (MODEL, *makers) if name not in defined]


def expect_problem(source: str, where: str, makers: Sequence[str] = MAKERS) -> None:
    """Returns where a text is a problem.

    Raises:
        UsageError: it lacks one of the names.
    """
    module = parse(source)
    if isinstance(module, Fault):
        raise UsageError(f"{where} does not parse: {module.detail}")
    if lacking := missing(module, makers):
        raise UsageError(f"{where} is no problem: it defines no {' and no '.join(lacking)}")


def generator_text(module: str, settings: Sequence[Setting] = ONLY, backward: bool = False) -> str:
    """Returns a workload file that draws a problem's inputs; its sizes are the numbers of the settings.

    Args:
        module: name of the problem's module.
        settings: what its constructor and its ``get_inputs`` are given.
        backward: whether the gradients of the outputs are drawn too.
    """
    return GENERATOR.format(
        module=module, settings=list(settings), weights=WEIGHTS, first=FIRST_WEIGHTS, backward=backward
    )


def screen_answer(candidate: str, problem: str, slots: Sequence[str] = ()) -> Fault | None:
    """Returns why a text is no answer to a problem: it does not parse, or its class takes other arguments.

    Args:
        candidate: the answer's text.
        problem: the problem's text.
        slots: functions that an answer may define instead of a class.
    """
    module = parse(candidate)
    if isinstance(module, Fault):
        return module
    classes = [node.name for node in module.body if isinstance(node, ast.ClassDef)]
    name = ANSWER if ANSWER in classes else MODEL
    if name not in classes:
        functions = {node.name for node in module.body if isinstance(node, ast.FunctionDef)}
        if functions & set(slots):
            return None
        return Fault(Reason.CRASH, f"it defines no {' and no '.join((f'class {ANSWER}', *slots))}")
    reference = parse(problem)
    assert isinstance(reference, ast.Module), "the problem was read before"
    for method in ("__init__", "forward"):
        theirs, ours = find_function(module, f"{name}.{method}"), find_function(reference, f"{MODEL}.{method}")
        if theirs is None or ours is None or _takes_all(theirs):
            continue
        if len(_asked(theirs)) < len(_asked(ours)):
            return Fault(
                Reason.CRASH,
                f"{name}.{method}({', '.join(parameters(theirs))}) takes fewer arguments than the problem's",
            )
    return None


def _asked(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    return [name for name in parameters(function) if name.rstrip("=") != SLOT]


def _takes_all(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return function.args.vararg is not None
