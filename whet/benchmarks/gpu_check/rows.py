"""The answers that are checked, and what must come of each."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

TASKS = Path(__file__).parents[1] / "tasks" / "kernels"
ANSWERS = Path(__file__).parent / "answers"
LANGUAGES = ("cuda", "triton")
GOOD = "good"
RIGHT = ("improved", "not_faster", "slower")
"""What may come of a right answer; how much it gains stands beside it."""
PASSED = "passed"


@dataclass(frozen=True, slots=True)
class Row:
    """One answer.

    Attributes:
        kernel: the shipped task that it answers.
        language: ``cuda`` or ``triton``.
        kind: ``good``, ``slow``, ``wrong`` or ``cheating``.
        path: its text.
        expected: what may come of it on a GPU: ``improved``, or the reason why it is not.
        interpreted: what may come of it in Triton's interpreter: ``passed``, or a reason; empty where it is no Triton.
        note: what it does.
    """

    kernel: str
    language: str
    kind: str
    path: Path
    expected: tuple[str, ...]
    interpreted: tuple[str, ...] = ()
    note: str = ""

    @property
    def problem(self) -> Path:
        """The file of its task."""
        return TASKS / self.kernel / "problem.py"

    @property
    def answer(self) -> str:
        """Its kind and, where that is not enough, its name, for people."""
        return self.kind if self.kind == GOOD else f"{self.kind}: {self.path.stem}"

    @property
    def source(self) -> str:
        """Its text."""
        return self.path.read_text(encoding="utf-8")


@cache
def rows() -> tuple[Row, ...]:
    """Returns all answers, kernel by kernel, the good ones first."""
    found = (*_good(), *_others())
    return tuple(sorted(found, key=lambda row: (row.kernel, row.kind != GOOD, row.language, row.answer)))


def _good() -> Iterator[Row]:
    for problem in TASKS.glob("*/problem.py"):
        kernel = problem.parent.name
        for language in LANGUAGES:
            interpreted = (PASSED,) if language == "triton" else ()
            if (path := problem.with_name(f"{language}.py")).is_file():
                yield Row(kernel, language, GOOD, path, RIGHT, interpreted)


def _others() -> Iterator[Row]:
    for told in tomllib.loads((ANSWERS / "rows.toml").read_text(encoding="utf-8"))["answer"]:
        path, language, kind, note = ANSWERS / told["file"], told["language"], told["kind"], told["note"]
        interpreted = tuple(told.get("interpreted", ()))
        yield Row(path.parent.name, language, kind, path, tuple(told["expected"]), interpreted, note)
