"""Files of rows, as suites publish them: JSON Lines (gzip too) or one JSON array. What is wrong is told by line."""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections.abc import Hashable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, TypeVar, cast

from whet.core.errors import UsageError

LONGEST_ROW = 64 << 20
"""Bytes of one line at most."""

LONGEST_ARRAY = 1 << 30
"""Bytes of one JSON array at most."""

Kind = TypeVar("Kind")


class RowFault(Exception):
    """A row that cannot be used; the message says why, without its line."""


def read_rows(file: Path, faults: list[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yields the rows of a file with their lines, from 1; a JSON array's rows with their places, from 1.

    Args:
        file: JSON Lines, or one JSON array of objects where its name ends in ``.json``; with ``.gz`` behind, packed.
        faults: takes one line for each row that cannot be read.

    Raises:
        UsageError: the file cannot be read at all.
    """
    name = file.name.removesuffix(".gz")
    try:
        with cast(BinaryIO, gzip.open(file, "rb") if name != file.name else file.open("rb")) as stream:
            yield from _array(file, stream, faults) if name.endswith(".json") else _lines(file, stream, faults)
    except (OSError, EOFError, zlib.error) as error:
        raise UsageError(f"{file} cannot be read: {error}") from None


def field(row: dict[str, Any], name: str, kind: type[Kind]) -> Kind:
    """Returns a field of a row.

    Raises:
        RowFault: there is none of that name, or it is of another type.
    """
    if name not in row:
        raise RowFault(f"no field '{name}'")
    value = row[name]
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise RowFault(f"field '{name}' is {type(value).__name__}, not {kind.__name__}")
    return value


def fault(file: Path, line: int, why: object) -> str:
    """Returns the line for a row that cannot be used."""
    return f"{file.name}, row {line}: {why}"


class Ids:
    """Tells rows whose id was there before."""

    def __init__(self) -> None:
        self._rows: dict[Hashable, int] = {}

    def take(self, row_id: Hashable, line: int) -> None:
        """Notes an id.

        Raises:
            RowFault: another row has it.
        """
        first = self._rows.setdefault(row_id, line)
        if first != line:
            raise RowFault(f"the id {shown(row_id)} is that of row {first} too")


def shown(value: object, length: int = 60) -> str:
    """Returns text of a suite as a message may show it: escaped, and cut to a length."""
    text = ascii(value)
    return text if len(text) <= length else f"{text[:length]}..."


def digest(data: object) -> str:
    """Returns the SHA-256 of plain data, whatever the order of its keys."""
    return hashlib.sha256(json.dumps(data, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _lines(file: Path, stream: BinaryIO, faults: list[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    line = 0
    while raw := stream.readline(LONGEST_ROW + 1):
        line += 1
        if len(raw) > LONGEST_ROW and not raw.endswith(b"\n"):
            faults.append(fault(file, line, f"longer than {LONGEST_ROW >> 20} MiB"))
            while raw and not raw.endswith(b"\n"):
                raw = stream.readline(LONGEST_ROW)
            continue
        if raw.strip():
            try:
                yield line, _row(_parsed(raw))
            except RowFault as why:
                faults.append(fault(file, line, why))


def _array(file: Path, stream: BinaryIO, faults: list[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    raw = stream.read(LONGEST_ARRAY + 1)
    try:
        if len(raw) > LONGEST_ARRAY:
            raise RowFault(f"longer than {LONGEST_ARRAY >> 20} MiB")
        rows = _parsed(raw)
        if not isinstance(rows, list):
            raise RowFault("not a JSON array")
    except RowFault as why:
        raise UsageError(f"{file} cannot be read: {why}") from None
    for place, row in enumerate(rows, 1):
        try:
            yield place, _row(row)
        except RowFault as why:
            faults.append(fault(file, place, why))


def _parsed(raw: bytes) -> Any:
    try:
        value = json.loads(raw)
        if b"\\u" in raw:
            json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise RowFault("half of a surrogate pair in its text") from None
    except UnicodeDecodeError:
        raise RowFault("not UTF-8") from None
    except json.JSONDecodeError as error:
        raise RowFault(f"not JSON ({error.msg} at character {error.pos}); was the file cut off?") from None
    except (ValueError, RecursionError):
        raise RowFault("JSON with a number or nesting beyond all measure") from None
    return value


def _row(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise RowFault("not a JSON object")
    return value
