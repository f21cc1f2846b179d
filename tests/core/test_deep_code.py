"""Code that is nested deeply, as generated tables are: it is read, or refused in one line."""

from __future__ import annotations

import ast

import pytest

from whet.bot.touched import _weight
from whet.core.task import Kind, Task
from whet.core.trees import depth, parse_python
from whet.evaluators.mutants.base import TooDeepError
from whet.evaluators.mutants.native import changes as native_changes
from whet.evaluators.mutants.python import DEEPEST, changes
from whet.evaluators.mutants.registry import mutants
from whet.evaluators.profilers.stacks import python_functions

LEVELS = 1200
"""More than Python's own stack has."""


def sum_of(terms: int) -> str:
    return f"def total(v):\n    return {' + '.join(f'v[{i}]' for i in range(terms))}\n"


def branches(count: int) -> str:
    tests = "\n".join(f"    {'el' if i else ''}if k == {i}:\n        return {i}" for i in range(count))
    return f"def look(k):\n{tests}\n    return 0\n"


def test_the_depth_of_a_tree():
    assert depth(ast.parse("")) == 1
    assert depth(ast.parse("a")) == 4  # the module, the statement, the name, its context
    assert depth(parse_python(sum_of(LEVELS))) > LEVELS


def test_hot_lines_of_a_long_sum_are_in_its_function():
    assert python_functions(sum_of(LEVELS)) == {1: ("total", 1), 2: ("total", 1)}


def test_functions_inside_others_keep_their_names():
    source = "class A:\n    def f(self):\n        def g():\n            return 1\n        return g\n\ndef h(): pass\n"
    assert python_functions(source) == {2: ("A.f", 2), 3: ("A.f.g", 3), 4: ("A.f.g", 3), 5: ("A.f", 2), 7: ("h", 7)}


def test_loops_are_weighed_by_how_deep_they_stand():
    source = "for a in b:\n    while a:\n        c = [d for d in a]\nfor e in b: pass\n"
    plain, nested = ast.parse("for e in b: pass\n"), ast.parse(source)
    assert _weight(plain) == 1
    assert _weight(nested) > 1 + 2 + 1
    assert _weight(parse_python(sum_of(LEVELS))) == 0


@pytest.mark.parametrize("source", [sum_of(LEVELS), branches(LEVELS)])
def test_no_faults_are_made_in_what_libcst_cannot_walk(tmp_path, source):
    symbol = "total" if "total" in source else "look"
    path = tmp_path / "deep.py"
    task = Task("deep", "python", Kind.FUNCTION, path, source, symbol, tmp_path)
    with pytest.raises(TooDeepError, match=rf"nested \d+ levels deep; {DEEPEST} are the most"):
        next(mutants(task, 1))


@pytest.mark.parametrize("source", [sum_of(DEEPEST - 10), branches(DEEPEST - 10)])
def test_faults_are_made_in_what_is_less_deep(source):
    found = changes(source, "total" if "total" in source else "look")
    assert len(found) > DEEPEST
    assert found[-1].render() != source


@pytest.mark.parametrize("language", ["c", "cpp"])
def test_faults_are_made_in_long_chains_of_branches_in_c(language):
    chain = " else ".join(f"if (k == {i}) return {i};" for i in range(LEVELS))
    found = native_changes(f"long look(long k) {{ {chain} return 0; }}\n", language)
    assert len(found) > LEVELS
