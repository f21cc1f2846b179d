"""EffiBench-X's files: a problem each, with canonical solutions in up to six languages, and tests over stdin."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whet.benchmarks.suites.base import Problem, Reading
from whet.benchmarks.suites.jsonl import Ids, RowFault, digest, fault, field, read_rows, shown
from whet.core.errors import UsageError
from whet.core.task import Commands
from whet.sandbox.toolchains.native import found

SLOT = "==Code Submission=="
"""A line with it stands in a runner where the solution belongs."""
LONGEST_FILE = 256 << 20
"""Bytes of a JSON file at most, since it is read as a whole. A larger bound takes more memory; a smaller one may refuse
real data."""
NAME = re.compile(r"[\w.-]{1,200}")
FILES = "*.json"


@dataclass(frozen=True, slots=True)
class Language:
    """How whet runs a language of the suite.

    Attributes:
        task: its word in a ``whet.toml``.
        filename: of a program.
        tool: without which it does not run.
        commands: for all but ``python`` and ``cpp``.
        head: imports that solutions and runners of functions take for granted; in our own words.
    """

    task: str
    filename: str
    tool: str
    commands: Commands
    head: str = ""


PYTHON_HEAD = "\n".join(
    f"from {name} import *"
    for name in ("bisect", "collections", "functools", "heapq", "itertools", "math", "operator", "string", "typing")
)
LANGUAGES = {
    "python3": Language(
        "python",
        "program.py",
        "python3",
        Commands("python3 program.py"),
        f"{PYTHON_HEAD}\nimport bisect, collections, copy, functools, heapq, itertools, json, math, random, re, sys\n",
    ),
    "cpp": Language(
        "cpp",
        "program.cpp",
        "g++",
        Commands("./program", "g++ -O2 -std=c++17 -o program program.cpp"),
        "#include <bits/stdc++.h>\nusing namespace std;\n",
    ),
    "java": Language(
        "command",
        "Main.java",
        "javac",
        Commands("java -XX:+UseSerialGC -cp classes Main", "javac -d classes Main.java"),
        "".join(f"import java.{name}.*;\n" for name in ("io", "math", "util", "util.function", "util.stream")),
    ),
    "javascript": Language("command", "program.js", "node", Commands("node program.js")),
    "golang": Language("command", "program.go", "go", Commands("./program", "go build -o program program.go")),
    "ruby": Language("command", "program.rb", "ruby", Commands("ruby program.rb")),
}
FUNCTIONS = ("python3", "cpp", "java")
"""Languages whose runners of functions can be put together here."""


def read(root: Path) -> Reading:
    """Reads the problems under a path; see `whet.benchmarks.suites.base.Suite.read`."""
    faults: list[str] = []
    problems: list[Problem] = []
    ids = Ids()
    for number, (file, line, name, row) in enumerate(_rows(root, faults), 1):
        try:
            ids.take(name, number)
            problems += _problems(name, row)
        except RowFault as why:
            faults.append(fault(file, line, why))
    if not problems:
        raise UsageError(f"{root} holds no problem of EffiBench-X that can be used{': ' + faults[0] if faults else ''}")
    return Reading(tuple(problems), tuple(faults))


def solutions(file: Path) -> dict[tuple[str, int], str]:
    """Reads somebody's solutions, ``{problem: {language: code}}``: (problem:language, 0) -> code.

    Raises:
        UsageError: they cannot be read.
    """
    answers: dict[tuple[str, int], str] = {}
    for name, by_language in _object(file).items():
        if not isinstance(by_language, dict):
            raise UsageError(f"{file}: the solutions of {shown(name)} are no object")
        answers |= {(f"{name}:{word}", 0): code for word, code in by_language.items() if isinstance(code, str)}
    return answers


def _rows(root: Path, faults: list[str]) -> Iterator[tuple[Path, int, str, dict[str, Any]]]:
    """Yields (file, line, name, row) of a file of rows, or of a folder with a file a problem."""
    files = [root] if root.is_file() else sorted(root.glob("*.jsonl")) or sorted(root.glob(FILES))
    if not files:
        raise UsageError(f"{root} holds neither *.jsonl nor a file {FILES} a problem; see whet bench fetch-help")
    for file in files:
        if file.suffix == ".jsonl":
            for line, row in read_rows(file, faults):
                yield file, line, "_".join(str(row.get(key, "")) for key in ("source", "id", "title_slug")), row
            continue
        try:
            held = _object(file)
        except UsageError as why:
            faults.append(str(why))
            continue
        packed = all(isinstance(one, dict) and "solutions" in one for one in held.values())
        named = held.items() if packed else [(file.stem, held)]
        yield from ((file, line, name, row) for line, (name, row) in enumerate(named, 1))


def _object(file: Path) -> dict[str, Any]:
    try:
        if file.stat().st_size > LONGEST_FILE:
            raise UsageError(f"{file} is longer than {LONGEST_FILE >> 20} MiB")
        value = json.loads(file.read_bytes())
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise UsageError(f"{file} is not JSON; was it cut off?") from None
    if not isinstance(value, dict):
        raise UsageError(f"{file} is no JSON object")
    return value


def _problems(name: str, row: dict[str, Any]) -> list[Problem]:
    """Returns one problem for each language that a row has a canonical solution in."""
    if not NAME.fullmatch(name):
        raise RowFault(f"{shown(name)} is no name of a problem")
    solved = field(row, "solutions", dict)
    tests = _tests(row)
    evaluator = field(row, "evaluator", str)
    runners = row.get("test_runners") or {}
    if not isinstance(runners, dict):
        raise RowFault("test_runners is no object")
    problems = []
    for word, language in LANGUAGES.items():
        solution = solved.get(word)
        code = solution.get("code") if isinstance(solution, dict) else None
        if not isinstance(code, str) or not code.strip():
            continue
        runner = runners.get(word)
        if runner is not None and (not isinstance(runner, str) or SLOT not in runner):
            raise RowFault(f"the runner for {word} has no line {SLOT}")
        data = {"language": word, "tests": tests, "evaluator": evaluator, "runner": runner}
        problems.append(
            Problem(
                f"{name}:{word}",
                f"{str(row.get('title') or name)[:200]} ({word})",
                language.task if runner is None else "command",
                code,
                None,
                data,
                digest([code, data]),
                group=word,
                needs=_needs(word, language, functional=runner is not None),
            )
        )
    if not problems:
        raise RowFault("it has no canonical solution in a language of the suite")
    return problems


def _needs(word: str, language: Language, functional: bool) -> str:
    if functional and word not in FUNCTIONS:
        return f"a way to put runners of functions in {word} together"
    return "" if found(language.tool) else language.tool


def _tests(row: Mapping[str, Any]) -> list[dict[str, str]]:
    given = row.get("generated_tests")
    try:
        listed = json.loads(given) if isinstance(given, str) else given
    except (ValueError, RecursionError):
        raise RowFault("generated_tests is text that is not JSON") from None
    if not isinstance(listed, list) or not listed:
        raise RowFault("no generated_tests")
    if not all(
        isinstance(one, dict) and isinstance(one.get("input"), str) and isinstance(one.get("output"), str)
        for one in listed
    ):
        raise RowFault("a test without the texts input and output")
    return [{"input": one["input"], "output": one["output"]} for one in listed]
