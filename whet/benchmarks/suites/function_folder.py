"""Writes a problem as a task of whet: a folder with ``whet.toml``, the target's text and a workload file."""

from __future__ import annotations

import json
import re
from pathlib import Path

NAME = re.compile(r"[^A-Za-z0-9._-]+")


def is_name(text: str) -> bool:
    """Whether data may name a function or ``Class.method``: else it could say anything in the files written here."""
    return re.fullmatch(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)?", text, re.ASCII) is not None


def write_function(
    folder: Path, name: str, source: str, symbol: str, workload: str, seconds: float = 10.0, memory: str = "4GiB"
) -> str:
    """Writes the folder of a function's task, and returns what ``whet verify`` takes for it.

    Args:
        folder: empty.
        name: for people; what is no plain word in it is replaced.
        source: the target's text.
        symbol: the function or ``Class.method``.
        workload: text of the workload file.
        seconds: that one run may take.
        memory: that one run may use.

    Raises:
        ValueError: the symbol is no name.
    """
    return _write(folder, name, source, workload, ['kind = "function"', f"symbol = {_quoted(symbol)}"], seconds, memory)


def write_program(
    folder: Path, name: str, source: str, workload: str, seconds: float = 10.0, memory: str = "4GiB"
) -> str:
    """Writes the folder of a program's task, which reads stdin; see `write_function`."""
    return _write(folder, name, source, workload, ['kind = "program"'], seconds, memory)


def _write(folder: Path, name: str, source: str, workload: str, lines: list[str], seconds: float, memory: str) -> str:
    (folder / "target.py").write_text(source)
    (folder / "workload.py").write_text(workload)
    plain = NAME.sub("-", name).strip("-") or "problem"
    table = ["[task]", f"name = {_quoted(plain)}", 'language = "python"', 'target = "target.py"', *lines]
    table += ["", "[workload]", 'generator = "workload.py"', ""]
    table += ["[limits]", f"seconds = {seconds:g}", f"memory = {_quoted(memory)}", ""]
    (folder / "whet.toml").write_text("\n".join(table))
    return str(folder)


def _quoted(text: str) -> str:
    if not text.isascii() or not text.isprintable():
        raise ValueError(f"{text!a} is no name")
    return json.dumps(text)
