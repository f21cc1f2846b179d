"""Rows in a file: written, read, torn by a kill, and refused where they are somebody else's."""

from __future__ import annotations

import json
import math
from contextlib import closing
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whet.benchmarks.results import Machine, Own, Row
from whet.benchmarks.runner.journal import Journal
from whet.benchmarks.runner.rows import RowFile, is_rows, line_of, read_rows
from whet.core.errors import UsageError
from whet.core.result import Cost

HERE = Machine("a processor", 2, "", "bubblewrap", "a system", "1.0")
HOSTILE = "</script>\u202e\x1b[31m\u2028\x00\ud800'; DROP"
RESULT = {"run": "r", "status": "improved", "message": "", "speedup": {"ratio": 2.0, "metric": "time"}, "candidate": {}}


def row(problem="p0", sample=0, **words) -> Row:
    own = words.pop("own", Own(True, "", {"seconds": 1.5}, "s", "clock"))
    given = {
        "suite": "whetbench",
        "data": "d",
        "problem": problem,
        "sample": sample,
        "model": "m",
        "strategy": "",
        "budget": "",
        "language": "python",
        "answer": "x = 1\n",
        "own": own,
        "result": None,
        "evidence": "",
        "excluded": "",
        "machine": HERE,
        "cost": Cost(),
        "seconds": 1.0,
        "when": "2026-11-22T00:00:00+00:00",
        **words,
    }
    return Row(**given)


def written(path, *rows) -> None:
    with closing(RowFile(path)) as file:
        for one in rows:
            file.append(one)


def test_what_is_written_is_read(tmp_path):
    path = tmp_path / "folder" / "rows.jsonl"
    rows = row(), row("p1", result=RESULT), row("p1", 1, own=None, excluded="its reference fails")
    written(path, *rows)
    assert is_rows(path)
    assert read_rows(path).rows == rows
    assert read_rows(path).faults == ()
    with closing(RowFile(path)) as file:
        assert file.rows == rows


@settings(max_examples=50)
@given(st.text(st.characters(codec=None)), st.text(), st.floats(allow_nan=False, allow_infinity=False))
def test_any_text_comes_back_but_for_lone_surrogates(answer, reason, figure):
    one = row(answer=answer, own=Own(False, reason, {reason: figure}))
    line = line_of(one)
    assert line.count(b"\n") == 1
    back = json.loads(line)
    assert back["answer"] == answer.encode("utf-8", "replace").decode()
    assert back["own"]["figures"] == {reason: figure}


def test_hostile_words_stay_on_their_line(tmp_path):
    path = tmp_path / "rows.jsonl"
    written(path, row(HOSTILE, answer=HOSTILE, model=HOSTILE), row())
    first, second = read_rows(path).rows
    assert first.problem == HOSTILE.replace("\ud800", "?")
    assert second == row()


def test_a_torn_last_line_is_cut_off_and_done_again(tmp_path):
    path = tmp_path / "rows.jsonl"
    written(path, row(), row("p1"))
    whole = path.read_bytes()
    last = whole.splitlines(keepends=True)[-1]
    for kept in (1, 10, 40, len(last) - 1):
        path.write_bytes(whole + last[:kept])
        assert len(read_rows(path).rows) == 2
        written(path, row("p2"))
        assert [one.problem for one in read_rows(path).rows] == ["p0", "p1", "p2"]


@pytest.mark.parametrize("text", [b"a list of mine", b"{", b"a\nb", b'{"schema": "whet.result/1"}\n'])
def test_a_file_that_is_not_ours_is_left_alone(tmp_path, text):
    path = tmp_path / "notes.txt"
    path.write_bytes(text)
    if text == b"{":  # what a kill leaves of the first byte of a row
        written(path, row())
        assert read_rows(path).rows == (row(),)
        return
    with pytest.raises(UsageError):
        RowFile(path)
    assert path.read_bytes() == text


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"schema": "whet.bench.row/9"}, "this whet reads 'whet.bench.row/1'"),
        ({"sample": "first"}, "sample: "),
        ({"own": {"passed": "perhaps"}}, "own.passed: "),
        ({"result": {"status": "improved"}}, "run: "),
        ({"result": {**RESULT, "speedup": {"ratio": -1, "metric": "time"}}}, "speedup.ratio: "),
    ],
)
def test_what_is_no_row_is_told_by_its_line(tmp_path, change, fault):
    path = tmp_path / "rows.jsonl"
    good = line_of(row()).decode()
    path.write_text(good + json.dumps({**json.loads(line_of(row("p1"))), **change}) + "\n" + good)
    found = read_rows(path)
    assert found.rows == (row(),)
    assert found.faults[0].startswith("line 2: ")
    assert fault in found.faults[0]
    assert found.faults[1] == "line 3: a row of 'p0', sample 0, stood before"
    with pytest.raises(UsageError, match="line 2: "):
        RowFile(path)


@pytest.mark.parametrize("text", ["[" * 100_000, '{"schema": NaN}', "\xff", "null", "1e999999"])
def test_lines_of_rubbish_are_faults(tmp_path, text):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(text.encode("latin-1") + b"\n" + line_of(row()))
    found = read_rows(path)
    assert len(found.faults) == 1
    assert found.rows == (row(),)


def test_only_one_process_writes_a_file(tmp_path):
    path = tmp_path / "rows.jsonl"
    with closing(RowFile(path)), pytest.raises(UsageError, match="being written by another process"):
        RowFile(path)


def test_a_figure_of_nothing_is_null_and_what_is_no_data_is_not_written(tmp_path):
    path = tmp_path / "rows.jsonl"
    with closing(RowFile(path)) as file, pytest.raises(ValueError, match="serialize"):
        file.append(row(own=Own(True, "", {"seconds": object()})))
    assert read_rows(path).rows == ()
    written(path, row(own=Own(True, "", {"seconds": math.nan})))
    assert read_rows(path).rows[0].own.figures == {"seconds": None}


def test_a_journal_outlives_a_torn_line(tmp_path):
    path = tmp_path / "runs.jsonl"
    first, second = row().key, replace(row(), sample=1).key
    with closing(Journal(path)) as journal:
        journal.note(first, "run-1")
    path.write_bytes(path.read_bytes() + b'[["whetbench", "d"')
    with closing(Journal(path)) as journal:
        assert journal.run_of(first) == "run-1"
        journal.note(second, "run-2")
    with closing(Journal(path)) as journal:
        assert (journal.run_of(first), journal.run_of(second)) == ("run-1", "run-2")
        assert not journal.waits({first, second})
    with closing(Journal(path, {first})) as journal:
        assert (journal.run_of(first), journal.run_of(second)) == (None, "run-2")
        assert journal.waits({first})
    with closing(Journal(path)) as journal:
        assert journal.run_of(first) is None
