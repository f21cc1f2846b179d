"""Stores that older versions of whet wrote are read, migrated, and replayed to the same results.

The files were written by a checkout of those versions, not made by hand: one run of the quick start's target with the
catalogue, ``--rounds 1 --candidates 2 --until differential``. A change of the schema adds the last one before it.
"""

from __future__ import annotations

import gzip
import json
import re
from contextlib import closing
from pathlib import Path

import pytest
from paths import TESTS

from whet.core.database import open_database
from whet.core.database.schema import VERSION

STORES = TESTS / "stores"
KEPT = {int(path.name.removeprefix("schema-").removesuffix(".db.gz")): path for path in STORES.iterdir()}
SAME = ("schema", "task", "status", "candidate", "candidates", "rungs", "cost", "message")


@pytest.fixture(params=sorted(KEPT))
def version(request, tmp_path):
    """The schema of a kept store, which lies in the state directory of the ``whet`` fixture."""
    home = tmp_path / "home"
    home.mkdir()
    (home / "whet.db").write_bytes(gzip.decompress(KEPT[request.param].read_bytes()))
    return request.param


def version_of(home: Path) -> int:
    with closing(open_database(home)) as database, database.connection() as db:
        return database.version(db)


def test_the_schema_before_this_one_is_kept():
    assert max(KEPT) == VERSION - 1


@pytest.mark.corpus(one_in=8)
def test_a_kept_store_is_read_and_replayed(whet, version, tmp_path):
    assert version_of(tmp_path / "home") == version
    (row,) = json.loads(whet("runs", "list", "--json").stdout)
    assert (row["status"], row["result"]) == ("finished", "no_improvement")
    assert row["target"].endswith("/slow.py::common")
    assert version_of(tmp_path / "home") == VERSION
    told = whet("runs", "show", row["run"]).stdout
    assert len(re.findall(r"^\S+ verdict on [0-9a-f]{10}, measured: nothing wrong$", told, re.MULTILINE)) == 2
    first = json.loads(whet("runs", "resume", row["run"], "--json").stdout)
    again = json.loads(whet("runs", "replay", row["run"], "--json").stdout)
    assert first["candidates"]["correct"] == 2
    assert {key: again[key] for key in SAME} == {key: first[key] for key in SAME}
