"""PIE's files: rows of slow and fast programs, and the cases of their problems."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from whet.benchmarks.suites.base import Problem, Reading, Unusable
from whet.benchmarks.suites.jsonl import Ids, RowFault, digest, fault, field, read_rows, shown
from whet.benchmarks.suites.reading import read_problems
from whet.core.errors import UsageError
from whet.core.task import Case

LANGUAGES = {"python": "python", "python3": "python", "c++": "cpp", "cpp": "cpp", "c": "c"}
ROWS = ("test.jsonl", "py_reference.jsonl")
"""What the file of rows is called, where a folder holds several."""
NAME = re.compile(r"[A-Za-z0-9_]{1,64}")
INPUT = re.compile(r"input\.(\d{1,6})\.txt")
LONGEST_CASE = 64 << 20
"""Bytes of an input or an output at most, since it is read as a whole; one that is longer excludes its row. A larger
bound takes more memory."""


def read(root: Path) -> Reading:
    """Reads the rows at or under a path; see `whet.benchmarks.suites.base.Suite.read`."""
    file, found = _rows_file(root), _Tests(root if root.is_dir() else root.parent)
    return read_problems(file, lambda row: _problem(row, found))


def cases(data: Mapping[str, Any]) -> list[Case]:
    """Returns the cases of a problem, by its plain data.

    Raises:
        Unusable: one cannot be read.
    """
    folder = Path(data["folder"])
    try:
        return [
            Case(str(n), _content(folder / f"input.{n}.txt"), _content(folder / f"output.{n}.txt"))
            for n in data["tests"]
        ]
    except OSError as error:
        raise Unusable(f"a case cannot be read: {error.strerror}") from None


def predictions(file: Path) -> dict[tuple[str, int], str]:
    """Reads somebody's predictions: (problem, sample) -> answer.

    A row names its problem as the suite's rows do, and has its answers in ``generated_answers``, a list or one text.

    Raises:
        UsageError: the file or one of its rows cannot be read.
    """
    faults: list[str] = []
    answers: dict[tuple[str, int], str] = {}
    ids = Ids()
    for line, row in read_rows(file, faults):
        try:
            name, texts = identity(row), row.get("generated_answers")
            ids.take(name, line)
            listed = [texts] if isinstance(texts, str) else texts
            if not isinstance(listed, list) or not all(isinstance(text, str) for text in listed):
                raise RowFault("generated_answers is no list of texts")
            answers |= {(name, sample): text for sample, text in enumerate(listed)}
        except RowFault as why:
            faults.append(fault(file, line, why))
    if faults:
        raise UsageError(faults[0])
    return answers


def identity(row: Mapping[str, Any]) -> str:
    """Returns the id of a row, which its slow and its fast program give.

    Raises:
        RowFault: it is of no version that is known.
    """
    for names in (("src_id", "tgt_id"), ("submission_id_v0", "submission_id_v1")):
        if names[0] in row:
            return "-".join(str(row[name]) for name in names if name in row)
    raise RowFault("neither a row of PIE v1 (submission_id_v0) nor of v2 (src_id)")


def _rows_file(root: Path) -> Path:
    if root.is_file():
        return root
    listed = sorted(root.glob("*.jsonl")) + sorted(root.glob("*.jsonl.gz"))
    named = [file for name in ROWS for file in listed if file.name.removesuffix(".gz") == name]
    if not named and len(listed) != 1:
        what = f"{len(listed)} files *.jsonl" if listed else "no file *.jsonl"
        raise UsageError(f"{root} holds {what}; give the file of rows itself, such as {root}/test.jsonl")
    return (named or listed)[0]


class _Tests:
    """The folders of cases under a path: ``<problem_id>/input.<i>.txt``, there or one folder below."""

    def __init__(self, root: Path) -> None:
        below = sorted(path for path in root.iterdir() if path.is_dir())
        self._places = [*(path for path in below if path.name == "merged_test_cases"), root, *below]
        self._numbers: dict[str, tuple[Path, set[int]] | None] = {}

    def of(self, problem: str) -> tuple[Path, set[int]]:
        """Returns the folder of a problem and the numbers of its cases."""
        if problem not in self._numbers:
            self._numbers[problem] = self._found(problem)
        if (found := self._numbers[problem]) is None:
            raise RowFault(f"no cases {problem}/input.<i>.txt with output.<i>.txt")
        return found

    def _found(self, problem: str) -> tuple[Path, set[int]] | None:
        for place in self._places:
            folder = place / problem
            names = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
            numbers = {int(match[1]) for name in names if (match := INPUT.fullmatch(name))}
            if both := {number for number in numbers if f"output.{number}.txt" in names}:
                return folder, both
        return None


def _problem(row: dict[str, Any], tests: _Tests) -> Problem:
    name = identity(row)
    version = "v2" if "src_id" in row else "v1"
    slow, fast = ("src_code", "tgt_code") if version == "v2" else ("input", "target")
    source = field(row, slow, str)
    problem_id = field(row, "problem_id", str)
    if not NAME.fullmatch(problem_id):
        raise RowFault(f"problem_id {shown(problem_id)} is no name of a folder")
    written = str(row.get("language", "C++")).lower()
    if written not in LANGUAGES:
        raise RowFault(f"language {shown(row['language'])} is neither Python nor C nor C++")
    folder, there = tests.of(problem_id)
    asked = _indices(row["tests"]) if "tests" in row else sorted(there)
    if absent := [n for n in asked if n not in there]:
        raise RowFault(f"{problem_id} has no case {absent[0]}")
    target = row.get(fast)
    data = {"version": version, "problem_id": problem_id, "tests": asked, "folder": str(folder)}
    language = LANGUAGES[written]
    told = digest({**row, "tests": asked})
    known = target if isinstance(target, str) and target.strip() else None
    return Problem(name, f"{problem_id} ({name})", language, source, known, data, told, group=version)


def _indices(value: object) -> list[int]:
    """Returns indices of cases, which some files hold as text."""
    try:
        listed = json.loads(value) if isinstance(value, str) else value
    except ValueError:
        listed = None
    if not isinstance(listed, Sequence) or isinstance(listed, str) or not listed or not _whole(listed):
        raise RowFault("tests is no list of indices")
    return list(dict.fromkeys(listed))


def _whole(listed: Iterable[object]) -> bool:
    return all(type(one) is int and one >= 0 for one in listed)


def _content(file: Path) -> bytes:
    if file.stat().st_size > LONGEST_CASE:
        raise Unusable(f"{file.name} is longer than {LONGEST_CASE >> 20} MiB")
    return file.read_bytes()
