"""The chosen functions, and rewrites of them that are equal or wrong by their making."""

from __future__ import annotations

import ast
import tomllib
from dataclasses import dataclass
from pathlib import Path

from whet.core.trees import parse_python
from whet.evaluators.screen import find_function

CHOSEN = Path(__file__).with_name("functions.toml")
EQUAL, WRONG = "pass", "return None"


@dataclass(frozen=True, slots=True)
class Chosen:
    """One function of a package.

    Attributes:
        package: as it is installed by.
        file: in the folder of installed packages.
        symbol: in it.
        inputs: the text of a workload file.
    """

    package: str
    file: str
    symbol: str
    inputs: str

    @property
    def id(self) -> str:
        """By which it is asked for and found again."""
        return f"{self.file}::{self.symbol}"


def chosen() -> list[Chosen]:
    """Returns all of them."""
    return [Chosen(**row) for row in tomllib.loads(CHOSEN.read_text("utf-8"))["function"]]


def beginning_with(source: str, symbol: str, statement: str) -> str:
    """Returns a text in which a function begins with a statement, behind its docstring.

    Args:
        source: of its file.
        symbol: of the function, which is in the file, with a body in lines of its own.
        statement: `EQUAL`, or `WRONG`.
    """
    function = find_function(parse_python(source), symbol)
    assert function is not None, "the target was read"
    documented = isinstance(function.body[0], ast.Expr) and isinstance(function.body[0].value, ast.Constant)
    lines = source.splitlines(keepends=True)
    first = function.body[0]
    after = (first.end_lineno or first.lineno) if documented else first.lineno - 1
    return "".join([*lines[:after], f"{' ' * first.col_offset}{statement}\n", *lines[after:]])
