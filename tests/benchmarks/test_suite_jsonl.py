"""Rows of suites: what is wrong with them is told by line, and the rest is read."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from whet.benchmarks.suites.jsonl import Ids, RowFault, digest, field, read_rows, shown
from whet.core.errors import UsageError


def test_lines_are_read_and_faults_told_by_line(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_bytes(b'{"id": 1}\n\n[2]\n{"id": 3, "text": "caf\xc3\xa9"}\n{"id": "\\ud800"}\n\xff\n{"id": 7, "te')
    faults: list[str] = []

    rows = list(read_rows(file, faults))

    assert rows == [(1, {"id": 1}), (4, {"id": 3, "text": "café"})]
    assert [line.split(": ")[0] for line in faults] == [f"rows.jsonl, row {n}" for n in (3, 5, 6, 7)]
    assert "cut off" in faults[-1]


def test_nesting_and_numbers_beyond_measure_are_faults(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text("[" * 200_000 + "\n" + '{"n": ' + "9" * 10_000 + "}\n" + '{"id": 3}\n')
    faults: list[str] = []

    assert list(read_rows(file, faults)) == [(3, {"id": 3})]
    assert len(faults) == 2


def test_arrays_and_packed_files(tmp_path: Path) -> None:
    faults: list[str] = []
    array = tmp_path / "rows.json"
    array.write_text(json.dumps([{"id": 1}, 2]))
    packed = tmp_path / "rows.jsonl.gz"
    packed.write_bytes(gzip.compress(b'{"id": 1}\n'))

    assert list(read_rows(array, faults)) == [(1, {"id": 1})]
    assert list(read_rows(packed, faults)) == [(1, {"id": 1})]
    assert faults == ["rows.json, row 2: not a JSON object"]


@pytest.mark.parametrize(
    ("name", "content"), [("a.json", b"{}"), ("a.json", b"[{"), ("a.jsonl.gz", b"no gzip"), ("a.jsonl.gz", None)]
)
def test_files_that_cannot_be_read_at_all(tmp_path: Path, name: str, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(UsageError, match="cannot be read"):
        list(read_rows(tmp_path / name, []))


def test_a_packed_file_cut_off_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(b'{"id": 1}\n' * 1000)[:-12])
    with pytest.raises(UsageError, match="cannot be read"):
        list(read_rows(tmp_path / "a.jsonl.gz", []))


def test_fields_are_of_their_type() -> None:
    row = {"text": "a", "number": 3, "flag": True}

    assert field(row, "text", str) == "a"
    assert field(row, "number", float) == 3.0
    for name, kind in (("none", str), ("text", int), ("flag", int), ("flag", float)):
        with pytest.raises(RowFault, match=name):
            field(row, name, kind)


def test_an_id_that_was_there_before_is_told_with_its_row() -> None:
    ids = Ids()
    ids.take("p1", 1)

    with pytest.raises(RowFault, match="row 1"):
        ids.take("p1", 2)


def test_hostile_text_is_shown_escaped_and_short() -> None:
    assert shown("\x1b[2J<b>") == "'\\x1b[2J<b>'"
    assert len(shown("x" * 1000)) < 70


def test_the_digest_ignores_the_order_of_keys() -> None:
    assert digest({"a": 1, "b": [2]}) == digest({"b": [2], "a": 1}) != digest({"a": 1, "b": [3]})
