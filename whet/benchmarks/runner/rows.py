"""Rows in a file: JSON Lines of the schema ``whet.bench.row/1``, appended one by one and never lost again.

Each line is on the disk before the next piece of work begins. What a kill leaves of a line that was under way is cut
off when the file is opened again. Whoever wrote a file that is read is a stranger.
"""

from __future__ import annotations

import fcntl
import gc
import json
import os
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, TypeAdapter, ValidationError
from pydantic_core import from_json

from whet.benchmarks.results import SCHEMA, Row
from whet.core.errors import UsageError
from whet.core.plain import from_plain, to_plain
from whet.core.result import Status

BEGINNING = f'{{"schema": "{SCHEMA}", '.encode()
LONGEST_LINE = 64 << 20
"""Bytes of one row that is read."""


@dataclass(frozen=True, slots=True)
class _Ratio:
    ratio: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    metric: str


@dataclass(frozen=True, slots=True)
class _Verdict:
    """What scores read of a document of the schema ``whet.result/1``."""

    run: str
    status: Status
    message: str
    speedup: _Ratio | None
    candidate: Mapping[str, Any] | None


_VERDICT = TypeAdapter(_Verdict)
Key = tuple[str, str, str, str, str, str, int]


@dataclass(frozen=True, slots=True)
class ParsedRows:
    """What a file of rows holds.

    Attributes:
        rows: in their order.
        faults: a line of text for each line that is no row, or has the key of an earlier one.
        whole: bytes up to the end of the last whole line.
    """

    rows: tuple[Row, ...]
    faults: tuple[str, ...]
    whole: int


def line_of(row: Row) -> bytes:
    """Returns a row as it is written; a figure that is NaN or infinite is null.

    Raises:
        ValueError: a figure is no plain data.
    """
    document = {"schema": SCHEMA, **to_plain(row)}
    # A lone surrogate, which no UTF-8 holds, becomes a question mark.
    return json.dumps(document, allow_nan=False, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def is_rows(path: Path) -> bool:
    """Whether a file begins as one of rows does."""
    try:
        with path.open("rb") as file:
            return file.read(len(BEGINNING)) == BEGINNING
    except OSError:
        return False


def read_rows(path: Path) -> ParsedRows:
    """Reads rows; a last line without an end is not looked at.

    Raises:
        UsageError: the file cannot be read.
    """
    try:
        with path.open("rb") as file, uncollected():
            return _found(file)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None


@contextmanager
def uncollected() -> Iterator[None]:
    """Stops the search for cycles: rows hold none, and of 100,000 rows it would take a third of the time."""
    searched = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if searched:
            gc.enable()


def _found(lines: Iterable[bytes]) -> ParsedRows:
    rows: list[Row] = []
    faults: list[str] = []
    known: set[Key] = set()
    whole = 0
    for number, line in enumerate(lines, 1):
        if not line.endswith(b"\n"):
            break
        whole += len(line)
        row = _row(line)
        if isinstance(row, str):
            faults.append(f"line {number}: {row}")
        elif row.key in known:
            faults.append(f"line {number}: a row of {row.problem!r}, sample {row.sample}, stood before")
        else:
            known.add(row.key)
            rows.append(row)
    return ParsedRows(tuple(rows), tuple(faults), whole)


def _row(line: bytes) -> Row | str:
    """Returns the row that a line holds, or why it holds none."""
    if len(line) > LONGEST_LINE:
        return f"longer than {LONGEST_LINE >> 20} MiB"
    try:
        document = from_json(line, allow_inf_nan=False)
    except ValueError as error:
        return f"no JSON: {error}"
    schema = document.get("schema") if isinstance(document, dict) else None
    if schema != SCHEMA:
        return f"of the schema {str(schema)[:60]!r}; this whet reads {SCHEMA!r}"
    try:
        row = from_plain(Row, document)
        if row.result is not None:
            _VERDICT.validate_python(row.result)
        return row
    except (ValidationError, RecursionError) as error:
        first = error.errors()[0] if isinstance(error, ValidationError) else {"loc": (), "msg": "nested without end"}
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"


class RowFile:
    """A file that rows are appended to, by one process at a time. Safe for several threads. Close it at the end.

    Attributes:
        path: of the file.
        rows: those that it held when it was opened.
        keys: of the rows that it holds.
    """

    def __init__(self, path: Path) -> None:
        """Opens the file, or makes it, and cuts off what a kill left of a last line.

        Raises:
            UsageError: it cannot be written, another process writes it, or something in it is no row.
        """
        self.path = path
        self._lock = threading.Lock()
        self._closed = False
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise UsageError(f"{path} cannot be written: {error.strerror}") from None
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self.rows = self._opened()
            self.keys = {row.key for row in self.rows}
        except BlockingIOError:
            os.close(self._file)
            raise UsageError(f"{path} is being written by another process") from None
        except BaseException:
            os.close(self._file)
            raise

    def _opened(self) -> tuple[Row, ...]:
        found = read_rows(self.path)
        if found.faults:
            raise UsageError(f"{self.path}: {found.faults[0]}; mend that line, or give another file")
        torn = os.pread(self._file, len(BEGINNING), found.whole)
        if torn and not (torn.startswith(BEGINNING) or BEGINNING.startswith(torn)):
            raise UsageError(f"{self.path} is no file of rows; give another one")
        os.ftruncate(self._file, found.whole)
        return found.rows

    def append(self, row: Row) -> None:
        """Adds a row; it is on the disk when this returns.

        Raises:
            ValueError: a figure of the row is no plain data, or the file is closed.
        """
        line = memoryview(line_of(row))
        with self._lock:
            if self._closed:
                raise ValueError("the file of rows is closed")
            while line:
                line = line[os.write(self._file, line) :]
            os.fsync(self._file)
            self.keys.add(row.key)

    def close(self) -> None:
        """Lets go of the file."""
        with self._lock:
            self._closed = True
            os.close(self._file)
