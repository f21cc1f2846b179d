"""What an answer to a kernel problem is written in, from its text alone."""

from __future__ import annotations

import ast
import re
from enum import StrEnum

from whet.evaluators.finding import Fault
from whet.evaluators.screen import parse

GLOBAL = re.compile(r"\b__global__\b")


class AnswerLanguage(StrEnum):
    """How an answer computes. Where it mixes, the first of these that it has."""

    TRITON = "triton"
    CUDA_INLINE = "cuda inline"
    CUDA_C = "cuda C ABI"
    CPP_INLINE = "c++ inline"
    COMPILED = "torch.compile"
    TORCH = "torch"

    @property
    def needs_device(self) -> bool:
        """Whether only a GPU can run and time it."""
        return self in (AnswerLanguage.TRITON, AnswerLanguage.CUDA_INLINE, AnswerLanguage.CUDA_C)


def kind_of(source: str) -> AnswerLanguage:
    """Returns what a text is written in; one that is no Python and has no kernel counts as torch, and fails as that."""
    module = parse(source)
    if isinstance(module, Fault):
        return AnswerLanguage.CUDA_C if GLOBAL.search(source) else AnswerLanguage.TORCH
    loads = _keywords(module, ("load_inline", "load"))
    if any(_called(decorator) == "jit" and _is_triton(decorator, module) for decorator in _decorators(module)):
        return AnswerLanguage.TRITON
    if loads is not None:
        return (
            AnswerLanguage.CUDA_INLINE
            if "cuda_sources" in loads or GLOBAL.search(source)
            else AnswerLanguage.CPP_INLINE
        )
    compiled = any(_called(call) == "compile" and _owner(call) == "torch" for call in _calls(module))
    return AnswerLanguage.COMPILED if compiled or _decorated(module, "compile") else AnswerLanguage.TORCH


def _decorators(module: ast.Module) -> list[ast.expr]:
    functions = (ast.FunctionDef, ast.ClassDef)
    return [one for node in ast.walk(module) if isinstance(node, functions) for one in node.decorator_list]


def _decorated(module: ast.Module, name: str) -> bool:
    return any(_called(one) == name and _owner(one) == "torch" for one in _decorators(module))


def _calls(module: ast.Module) -> list[ast.Call]:
    return [node for node in ast.walk(module) if isinstance(node, ast.Call)]


def _keywords(module: ast.Module, names: tuple[str, ...]) -> set[str] | None:
    """Returns the keywords of all calls of torch's extension loader; None where there are none."""
    found = [call for call in _calls(module) if _called(call) in names and _loads(call)]
    return {word.arg for call in found for word in call.keywords if word.arg} if found else None


def _loads(call: ast.Call) -> bool:
    # `torch.load` and `json.load` are named so too.
    return _called(call) == "load_inline" or any(word.arg == "sources" for word in call.keywords)


def _called(node: ast.expr) -> str:
    if isinstance(node, ast.Call):
        return _called(node.func)
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _owner(node: ast.expr) -> str:
    node = node.func if isinstance(node, ast.Call) else node
    return node.value.id if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) else ""


def _is_triton(decorator: ast.expr, module: ast.Module) -> bool:
    names = {
        alias.asname or alias.name
        for node in ast.walk(module)
        if isinstance(node, ast.Import) or (isinstance(node, ast.ImportFrom) and node.module == "triton")
        for alias in node.names
        if isinstance(node, ast.ImportFrom) or alias.name == "triton"
    }
    return (_owner(decorator) or _called(decorator)) in names
