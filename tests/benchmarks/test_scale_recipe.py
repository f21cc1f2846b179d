"""The cluster by hand of docs/scale.md, word by word, on two hosts that are namespaces, with a PostgreSQL there."""

from __future__ import annotations

import os
import pwd
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from hosts import hosts, lacking
from pages import ROOT, Reader, blocks

PROGRAMS = next(iter(sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)), None)
BLOCKS = {
    block.title.partition(",")[0]: block.text for block in blocks(ROOT / "docs" / "scale.md") if block.title is not None
}

pytest.importorskip("ray")
pytestmark = [
    pytest.mark.exhaustive,
    pytest.mark.skipif(bool(lacking()), reason=lacking() or "there is nothing to skip"),
    pytest.mark.skipif(PROGRAMS is None, reason="PostgreSQL's server is not installed"),
    pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed"),
]


@pytest.fixture
def folder():
    """A folder that hosts with a /tmp of their own share, and other users may pass."""
    made = Path(tempfile.mkdtemp(prefix="whet-recipe-", dir="/var/tmp"))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made, ignore_errors=True)


@pytest.fixture
def two(folder):
    with hosts("first", "second") as made:
        yield made


@pytest.fixture
def database(two, folder):
    """PostgreSQL on the first host; yields what its administrator's shell holds."""
    user = pwd.getpwnam("postgres" if "postgres" in [one.pw_name for one in pwd.getpwall()] else "nobody")
    place = folder / "postgres"
    place.mkdir()
    os.chown(place, user.pw_uid, user.pw_gid)
    become = ("setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups")
    options = ("--auth-local=trust", "--auth-host=scram-sha-256", "--username=admin", "--no-sync")
    done = two[0].run(*become, PROGRAMS / "initdb", *options, "-D", place / "data", cwd=place)
    assert done.returncode == 0, done.stderr
    with (place / "data" / "pg_hba.conf").open("a") as rules:
        rules.write("host whet whet 10.99.0.0/24 scram-sha-256\n")
    settings = ("-c", "listen_addresses=10.99.0.1", "-c", f"unix_socket_directories={place}")
    with (folder / "postgres.log").open("w") as log:
        two[0].start(*become, PROGRAMS / "postgres", "-D", place / "data", *settings, stdout=log, stderr=log, cwd=place)
    variables = {"PGHOST": str(place), "PGUSER": "admin", "PGDATABASE": "postgres"}
    deadline = time.monotonic() + 30
    while two[0].run("psql", "-c", "select 1", env={**os.environ, **variables}).returncode:
        assert time.monotonic() < deadline, (folder / "postgres.log").read_text()
        time.sleep(0.1)
    return variables


class Shells:
    """A shell on each host, in a home of its own."""

    def __init__(self, folder: Path, two, **variables: str) -> None:
        self.two, self.folder = two, folder
        reader = Reader(folder / "reader")
        # The wrappers of the reader come first: they are this checkout's whet.
        path = f"{folder / 'reader' / '.venv' / 'bin'}:{Path(sys.executable).parent}:{reader.environment['PATH']}"
        self.environment = {**reader.environment, **variables, "PATH": path}
        del self.environment["WHET_HOME"]

    def home(self, number: int) -> Path:
        made = self.folder / f"home-{number + 1}"
        made.mkdir(exist_ok=True)
        return made

    def options(self, number: int) -> dict:
        return {"env": {**self.environment, "HOME": str(self.home(number))}, "cwd": self.folder / "reader"}

    def run(self, number: int, *titles: str, timeout: float = 120.0) -> tuple[int, str]:
        """Runs blocks of the page on a host; returns the exit code and what they write."""
        script = "\n".join(BLOCKS[title] for title in titles)
        # Ray's processes stay, and must not keep the pipes.
        with (self.folder / f"{titles[-1]}.log").open("w+") as log:
            streams = {"capture_output": False, "stdout": log, "stderr": subprocess.STDOUT}
            done = self.two[number].run("bash", "-ec", script, timeout=timeout, **streams, **self.options(number))
            log.seek(0)
            return done.returncode, log.read()

    def start(self, number: int, *titles: str) -> Path:
        """Starts blocks of the page on a host; returns what they write to."""
        log = self.folder / f"{titles[-1]}.log"
        with log.open("w") as said:
            script = "\n".join(BLOCKS[title] for title in titles)
            self.two[number].start("bash", "-ec", script, stdout=said, stderr=said, **self.options(number))
        return log


def test_a_reader_of_the_page_has_both_hosts_work(folder, two, database):
    shells = Shells(folder, two, **database)
    for titles in (("token",), ("database",), ("environment", "head")):
        code, said = shells.run(0, *titles)
        assert code == 0, said
    (shells.home(1) / ".ray").mkdir()
    shutil.copy(shells.home(0) / ".ray" / "auth_token", shells.home(1) / ".ray")
    second = shells.start(1, "environment", "second")
    deadline = time.monotonic() + 90
    while "Ray runtime started" not in second.read_text():
        assert time.monotonic() < deadline, second.read_text()
        time.sleep(0.2)
    code, said = shells.run(0, "environment", "driver", timeout=900)
    # Whether a right rewrite is shown faster is up to how busy the machine is.
    assert code in (0, 3), said
    assert "  faster  " in said, said
    for host in ("first", "second"):
        assert re.search(rf"^ +{host} .* [1-9]\d* done$", said, re.MULTILINE), said
    options = shells.options(0)
    options["env"]["PGDATABASE"] = "whet"
    assert int(two[0].run("psql", "-At", "-c", "SELECT count(*) FROM results", **options).stdout) > 0
