"""A PostgreSQL server for tests and self-measurement, of its own and gone at the end."""

from __future__ import annotations

import itertools
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

DEBIAN = Path("/usr/lib/postgresql")
USERS = ("postgres", "nobody")
"""Who runs it where we are root, which the server refuses to be; the first that there is."""
USER, PASSWORD = "whet", "a-secret-of-tests"
START_SECONDS = 30.0
"""Seconds that the server may take until it answers. A smaller value fails on a busy machine, a larger one only makes a
server that hangs slower to report; one that ends is reported at once."""
SETTINGS = {
    "fsync": "off",  # A server that dies is never started again.
    "full_page_writes": "off",
    "max_connections": "200",
    "shared_buffers": "32MB",
    "autovacuum": "off",
}


class NoServer(Exception):
    """No PostgreSQL server can be started here; says why."""


@dataclass(slots=True)
class Server:
    """A server that runs.

    Attributes:
        port: on 127.0.0.1, where it asks for the password.
        folder: for what its user may write.
        process: the postmaster.
    """

    port: int
    folder: Path
    process: subprocess.Popen[bytes]
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    def url(self, database: str = "postgres", *, user: str = USER, password: str = PASSWORD) -> str:
        """Returns where a database is, as ``WHET_STORE`` takes it."""
        return f"postgresql://{user}:{password}@127.0.0.1:{self.port}/{database}"

    def create(self) -> str:
        """Makes an empty database; returns its URL."""
        name = f"whet_{next(self._numbers)}"
        self.run(f"CREATE DATABASE {name} TEMPLATE template0")
        return self.url(name)

    def drop(self, url: str) -> None:
        """Drops a database and ends whoever is connected to it."""
        self.run(f"DROP DATABASE IF EXISTS {url.rsplit('/', 1)[1]} WITH (FORCE)")

    def run(self, statement: str) -> None:
        """Runs a statement as the administrator, outside any transaction."""
        import psycopg

        with psycopg.connect(self.url(), autocommit=True) as db:
            db.execute(statement.encode())


@contextmanager
def postgres_server() -> Iterator[Server]:
    """Yields a server on a free port, which ends with this process, however that ends.

    Raises:
        NoServer: there is none, or it does not start.
    """
    programs = _programs()
    folder = Path(tempfile.mkdtemp(prefix="whet-postgres-"))
    try:
        prefix = _become(folder)
        _initialise(prefix, programs, folder)
        port = _free_port()
        settings = {**SETTINGS, "port": str(port), "unix_socket_directories": str(folder)}
        options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        command = [*prefix, str(programs / "postgres"), "-D", str(folder / "data"), *options]
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=folder)
        try:
            server = Server(port, folder, process)
            _answering(server)
            yield server
        finally:
            process.send_signal(signal.SIGQUIT)  # At once: nothing in it is to last.
            process.wait()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def dumped(url: str) -> bytes:
    """Returns all that a database holds, as text."""
    return subprocess.run([str(_programs() / "pg_dump"), url], check=True, capture_output=True).stdout


def _programs() -> Path:
    """Returns the folder of the newest server's programs."""
    versions = sorted(DEBIAN.glob("*/bin/postgres"), key=lambda path: float(path.parts[-3]))
    if versions:
        return versions[-1].parent
    if (found := shutil.which("postgres")) is not None:
        return Path(found).resolve().parent
    raise NoServer("PostgreSQL's server is not installed; on Debian: apt-get install postgresql")


def _become(folder: Path) -> list[str]:
    """Returns the words before a command of the server's, after giving the folder to who runs it."""
    # The parent's death is the server's too: a test run that is killed leaves none behind.
    words = ["setpriv", "--pdeathsig=QUIT"]
    if os.geteuid() == 0:
        user = _user()
        os.chown(folder, user.pw_uid, user.pw_gid)
        words += [f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]
    if shutil.which("setpriv") is None:
        raise NoServer("setpriv is not installed; on Debian: apt-get install util-linux")
    return words


def _user() -> pwd.struct_passwd:
    for name in USERS:
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise NoServer(f"root cannot run PostgreSQL, and there is no user {' or '.join(USERS)}")


def _initialise(prefix: list[str], programs: Path, folder: Path) -> None:
    secret = folder / "password"
    secret.write_text(PASSWORD)
    options = ["--encoding=UTF8", "--locale=C.UTF-8", "--auth=scram-sha-256", "--no-sync", "--no-instructions"]
    command = [
        *prefix,
        str(programs / "initdb"),
        *options,
        "-U",
        USER,
        f"--pwfile={secret}",
        "-D",
        str(folder / "data"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    if done.returncode != 0:
        raise NoServer(f"initdb fails: {''.join(done.stderr.strip().splitlines()[-1:])}")


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def _answering(server: Server) -> None:
    """Waits for the server to answer."""
    import psycopg

    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and server.process.poll() is None:
        try:
            psycopg.connect(server.url()).close()
        except psycopg.OperationalError:
            time.sleep(0.05)
        else:
            return
    last = (server.folder / "log").read_text(errors="replace").strip().splitlines()[-1:]
    raise NoServer(f"PostgreSQL does not start: {''.join(last)}")
