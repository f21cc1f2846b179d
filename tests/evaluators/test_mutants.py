"""Mutants: each operator makes its fault, and every mutant is another program that parses."""

from __future__ import annotations

import ast
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest

from whet.benchmarks.tasks import task_folder, task_names
from whet.core.options import Options
from whet.core.task import Kind, Task
from whet.evaluators.mutants import native, python
from whet.evaluators.mutants.base import STATE
from whet.evaluators.mutants.patterns import faults_of_pattern
from whet.evaluators.mutants.registry import mutants
from whet.evaluators.targets import read_task

PYTHON_EXAMPLES = {
    "arithmetic": [("return a + b", "return a - b"), ("a += b", "a = b"), ("return -a", "return a")],
    "comparison": [("return a < b", "return a <= b"), ("return a in b", "return a not in b")],
    "boolean": [("return a and b", "return a or b")],
    "operand": [("return a @ b + c", "return a @ b"), ("return a if b else c", "return a")],
    "condition": [
        ("if a:\n        b()", "if not a:\n        b()"),
        ("while a:\n        b()", "while False:\n        b()"),
    ],
    "constant": [("return 7", "return 8"), ("return 1e-5", "return 0.0"), ("return True", "return False")],
    "text": [("return 'a'", 'return ""'), ("return f'{a}!'", "return f'{a}!x'"), (r"re(r'\d+$')", r're(r"\d+")')],
    "bound": [
        ("return range(a, b)", "return range(a, b - 1)"),
        ("return a[1:b]", "return a[1:b + 1]"),
        ("return a[b]", "return a[b - 1]"),
    ],
    "statement": [
        ("a = b\n    return a", "pass\n    return a"),
        ("return [x for x in a if x]", "return [x for x in a]"),
    ],
    "jump": [("for x in a:\n        break", "for x in a:\n        continue")],
    "return": [("return a", "return None"), ("return a, b", "return b, a")],
    "arguments": [("return sorted(a, key=b)", "return sorted(a)"), ("return f(a, b)", "return f(b, a)")],
    "call": [("return relu(a)", "return a"), ("return np.clip(a, 0, 1)", "return a"), ("return a.copy()", "return a")],
    "name": [("return min(a)", "return max(a)"), ("return any(a)", "return all(a)")],
    "literal": [("return [a, b]", "return []"), ("return (a, b)", "return (b, a)")],
    "exception": [("raise ValueError(a)", "raise RuntimeError(a)")],
}
C_EXAMPLES = {
    "arithmetic": ("x = a + b;", "x = a - b;"),
    "comparison": ("x = a < b;", "x = a <= b;"),
    "assignment": ("x += a;", "x -= a;"),
    "boolean": ("x = a && b;", "x = a || b;"),
    "operand": ("x = a + b;", "x = a;"),
    "condition": ("if (a) x = b;", "if (!(a)) x = b;"),
    "constant": ("x = 7;", "x = 8;"),
    "text": ('puts("a");', 'puts("");'),
    "bound": ("x = v[a];", "x = v[(a) + 1];"),
    "statement": ("x = a;", ";"),
    "jump": ("for (;;) { break; }", "for (;;) { continue; }"),
    "step": ("x++;", "x--;"),
    "arguments": ("f(a, b);", "f(b, a);"),
    "call": ("x = tolower(a);", "x = (a);"),
    "name": ("x = min(a, b);", "x = max(a, b);"),
}


def function(body: str) -> str:
    return f"def f(a, b, c):\n    {body}\n"


@pytest.mark.parametrize("name", python.OPERATORS)
def test_each_python_operator_makes_its_fault(name: str) -> None:
    for before, after in PYTHON_EXAMPLES[name]:
        made = {
            python.meaning(change.render())
            for change in python.changes(function(before), "f")
            if change.operator == name
        }
        assert python.meaning(function(after)) in made, before


@pytest.mark.parametrize("language", ["c", "cpp"])
@pytest.mark.parametrize("name", native.OPERATORS)
def test_each_native_operator_makes_its_fault(name: str, language: str) -> None:
    before, after = (f"int main(void) {{ {text} }}" for text in C_EXAMPLES[name])
    made = {
        native.meaning(change.render(), language)
        for change in native.changes(before, language)
        if change.operator == name
    }
    wanted = native.meaning(after, language)
    assert {text and text.replace("\0(", "").replace("\0)", "") for text in made} >= {
        wanted and wanted.replace("\0(", "").replace("\0)", "")
    }


PYTHON_STATES = [
    ("a.x = b\n    a.y = c", "a.y = b\n    a.y = c"),
    ("a.x += b\n    g()\n    return c", "return c\n    g()\n    return c"),
    ("a[0] = b\n    g()", "return\n    g()"),
    ("a.x.append(b)", "a.x = [b]"),
    ("a.x.update(b)", "a.x = dict(b)"),
]
CPP_STATES = [
    ("low = x; high = x;", "high = x; high = x;"),
    ("low += x; f(); return;", "return; f(); return;"),
    ("low++;", "low = 1;"),
    ("all.push_back(x);", "all = {x};"),
]


@pytest.mark.parametrize(("before", "after"), PYTHON_STATES)
def test_faults_of_state_in_python(before: str, after: str) -> None:
    made = {python.meaning(one.render()) for one in python.changes(function(before), "f") if one.operator == STATE}
    assert python.meaning(function(after)) in made


@pytest.mark.parametrize(("before", "after"), CPP_STATES)
def test_faults_of_state_in_cpp(before: str, after: str) -> None:
    def text(body: str) -> str:
        return f"struct K {{ long low, high; std::vector<long> all; void g(long x) {{ {body} }} }};"

    made = {native.meaning(one.render(), "cpp") for one in native.changes(text(before), "cpp") if one.operator == STATE}
    assert native.meaning(text(after), "cpp") in made


@pytest.mark.corpus
@pytest.mark.parametrize("name", task_names())
def test_mutants_are_distinct_programs_that_differ_from_the_target(name: str) -> None:
    task = read_task(str(task_folder(name)), Options())
    made = list(mutants(task, 1))
    assert len(made) > 40
    assert len({mutant.id for mutant in made}) == len(made)
    lines = task.source.count("\n") + 1
    for mutant in made:
        assert mutant.candidate.source != task.source
        assert mutant.candidate.diff(task.source, task.filename)
        assert 1 <= mutant.line <= lines
        if task.language == "python":
            assert ast.dump(ast.parse(mutant.candidate.source)) != ast.dump(ast.parse(task.source))


@pytest.mark.parametrize("name", ["dedup-events", "tidy-text"])
def test_the_seed_gives_the_order_and_nothing_else(name: str) -> None:
    task = read_task(str(task_folder(name)), Options())
    first, again, other = ([mutant.id for mutant in mutants(task, seed)] for seed in (1, 1, 2))
    assert first == again
    assert first != other
    assert sorted(first) == sorted(other)


def python_task(source: str, symbol: str) -> Task:
    return Task("t", "python", Kind.FUNCTION, Path("/t/t.py"), source, symbol, Path("/t"))


def test_only_the_target_is_changed() -> None:
    method = "    def f(self, a: int = 1):\n        'Adds.'\n        return a + 2\n"
    source = f"def other(a):\n    return a + 1\n\nclass C:\n{method}"
    made = list(mutants(python_task(source, "C.f"), 3))
    assert made
    for mutant in made:
        assert "def other(a):\n    return a + 1\n" in mutant.candidate.source
        assert "'Adds.'" in mutant.candidate.source
        assert mutant.line in (5, 7)


def test_code_without_anything_to_change_has_no_mutants() -> None:
    assert list(mutants(python_task("def f(a):\n    pass\n", "f"), 1)) == []


def test_a_native_mutant_is_found_whatever_stands_in_comments() -> None:
    task = replace(python_task("", "f"), language="c", source="/* a + b */\nint main(void) { return 0; } // 1 < 2\n")
    operators = {mutant.operator for mutant in islice(mutants(task, 1), 50)}
    assert operators == {"constant"}


def test_patterns_are_told_from_other_text() -> None:
    assert list(faults_of_pattern("a+b*c")) == []
    assert list(faults_of_pattern("Total: $5")) == []
    assert set(faults_of_pattern(r"^\d+$")) == {r"\d+$", r"^\d+", r"^\d*$", r"^\w+$"}
