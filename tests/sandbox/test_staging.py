"""What two whet processes at once, and one after another that was killed, do to each other's folders and users."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from whet.sandbox.staging import PREFIX, SLOTS, Staging
from whet.sandbox.users import BLOCK, Users

OPEN = """
import sys
from whet.sandbox.staging import Staging
print(Staging().folder, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def other():
    """Another process that has a folder, until it is ended."""
    process = subprocess.Popen([sys.executable, "-c", OPEN], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with process:
        yield process, Path(process.stdout.readline().strip())
        process.kill()


def test_the_folder_of_a_killed_run_is_swept_away(other):
    process, folder = other
    assert (folder / "whet" / "inside" / "calls.py").exists()
    process.kill()
    process.wait()
    assert folder.exists()
    Staging().close()
    assert not folder.exists()


def test_the_folder_of_a_living_run_stays(other):
    _, folder = other
    Staging().close()
    assert (folder / "whet" / "inside" / "calls.py").exists()


@pytest.mark.corpus(one_in=8)
def test_runs_that_begin_together_do_not_sweep_each_other_away(tmp_path):
    script = "from whet.sandbox.staging import Staging\nfor _ in range(20):\n    Staging().stage('a', {'b': b''})"
    command = [sys.executable, "-c", script]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    runs = [subprocess.Popen(command, env=environment, stderr=subprocess.PIPE) for _ in range(4)]
    assert [run.communicate()[1] for run in runs] == [b""] * len(runs)


def test_a_link_is_not_followed(tmp_path):
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").write_text("x")
    # Of this run alone: the folder is shared with all others on the machine.
    link = Path(tempfile.gettempdir(), f"{PREFIX}{secrets.token_hex(8)}-link")
    link.symlink_to(kept)
    try:
        Staging().close()
        assert link.is_symlink()
        assert (kept / "file").read_text() == "x"
    finally:
        link.unlink()


def test_two_backends_have_no_user_in_common():
    first, second = Users(), Users()
    try:
        users = [{some.take() for _ in range(BLOCK)} for some in (first, second)]
        assert len(users[0]) == len(users[1]) == BLOCK
        assert not users[0] & users[1]
    finally:
        first.close()
        second.close()


def test_no_two_jobs_have_one_user_however_many_there_are():
    users = Users()
    try:
        taken = [users.take() for _ in range(2 * BLOCK + 1)]
        assert len(set(taken)) == len(taken)
    finally:
        users.close()


def test_a_user_comes_again_only_once_its_job_has_ended_and_the_others_were_had():
    users = Users()
    try:
        first = users.take()
        users.give(first)
        assert [users.take() for _ in range(BLOCK)].index(first) == BLOCK - 1
    finally:
        users.close()


def test_without_a_free_block_it_says_so(tmp_path):
    script = f"from whet.sandbox.users import Users\nkept = [Users() for _ in range({SLOTS // BLOCK + 1})]"
    environment = {**os.environ, "TMPDIR": str(tmp_path)}  # its locks are nobody else's
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode != 0
    assert "wait until a sandbox is closed" in done.stderr
