"""Hosts for tests on this machine: namespaces of network, mounts, processes and name, on one bridge.

Each is held by one process, which ends with the tests whatever happens to them; with it ends all that runs there, and
the kernel takes away the network. Their ``/tmp`` and ``/dev/shm`` are their own, all other files are this machine's;
whet itself and its interpreter are there even where they lie in ``/tmp``.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from paths import ROOT

SUBNET = "10.99.0"
START_SECONDS = 60.0
"""In which the process in a namespace runs what it is to run; only a hang takes so long."""
INIT = """
import os, time
print(flush=True)
while True:
    try:
        os.wait()
    except ChildProcessError:
        time.sleep(0.1)
"""
IN_TMP = [path for path in (ROOT, Path(sys.prefix)) if path.is_relative_to("/tmp")]
"""Folders that the hosts' own ``/tmp`` would hide from them."""
FURNISH = """
name=$1 size=$2 python=$3 init=$4
shift 4
hostname "$name"
mount -t tmpfs -o "size=$size" none /dev/shm
mkdir -m 1777 /dev/shm/tmp
for folder in "$@"; do
    mkdir -p "/dev/shm$folder"
    mount --bind "$folder" "/dev/shm$folder"
done
mount --rbind /dev/shm/tmp /tmp
mount -t tmpfs -o size=512m none /dev/shm
exec "$python" -S -c "$init"
"""


class Holder:
    """Namespaces that last as long as a process of ours."""

    def __init__(self, *options: str, command: Sequence[str] = (sys.executable, "-S", "-c", INIT)) -> None:
        # Its line says that all of it is in place: `unshare` has made the namespaces, and the shell has furnished them.
        self._outer = subprocess.Popen(
            ["setpriv", "--pdeathsig=KILL", "unshare", *options, "--fork", "--kill-child", *command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        try:
            self._expect_line()
            children = Path(f"/proc/{self._outer.pid}/task/{self._outer.pid}/children")
            (self.pid,) = map(int, children.read_text().split())
        except BaseException:
            self.close()
            raise

    def _expect_line(self) -> None:
        assert self._outer.stdout is not None
        assert self._outer.stderr is not None
        if not select.select([self._outer.stdout], [], [], START_SECONDS)[0]:
            raise AssertionError(f"namespaces are not there after {START_SECONDS:g} s")
        if not self._outer.stdout.readline():
            raise AssertionError(f"namespaces cannot be made: {self._outer.stderr.read().decode().strip()}")

    def close(self) -> None:
        self._outer.kill()
        self._outer.communicate()


class NetHost(Holder):
    """One host.

    Attributes:
        name: of it.
        address: that the others reach it at.
    """

    def __init__(self, wire: Holder, number: int, name: str, tmp: str) -> None:
        furnish = ("sh", "-ec", FURNISH, "sh", name, tmp, sys.executable, INIT, *map(str, IN_TMP))
        super().__init__("--net", "--mount", "--pid", "--uts", "--mount-proc", command=furnish)
        self.name, self.address = name, f"{SUBNET}.{number}"
        self._wire, self._port = wire, f"port{number}"
        ip("link", "add", "eth0", "netns", self.pid, "type", "veth", "peer", "name", self._port, "netns", wire.pid)
        for words in (("link", "set", "lo", "up"), ("addr", "add", f"{self.address}/24", "dev", "eth0")):
            ip(*words, inside=self)
        ip("link", "set", "eth0", "up", inside=self)
        ip("link", "set", self._port, "master", "bridge", inside=wire)
        self.heal()

    def cut(self) -> None:
        """Takes it off the network; nobody is told, and no connection is closed."""
        ip("link", "set", self._port, "down", inside=self._wire)

    def heal(self) -> None:
        """Puts it on the network, and waits until others can be reached from it."""
        ip("link", "set", self._port, "up", inside=self._wire)
        deadline = time.monotonic() + START_SECONDS
        while not self._forwarded():
            assert time.monotonic() < deadline, f"{self.name} is not on the network after {START_SECONDS:g} s"
            time.sleep(0.01)
        # Who looked for others in vain meanwhile would be told "no route" for some seconds more.
        ip("neigh", "flush", "dev", "eth0", inside=self)

    def _forwarded(self) -> bool:
        """Tells whether both ends of its wire have seen that it is up: the kernel tells them up to a second later."""
        (port,) = json.loads(ip("-json", "-details", "link", "show", self._port, inside=self._wire))
        (end,) = json.loads(ip("-json", "link", "show", "eth0", inside=self))
        return port["linkinfo"]["info_slave_data"]["state"] == "forwarding" and end["operstate"] == "UP"

    def start(self, *words: str | Path, cwd: str | Path = "/", **options) -> subprocess.Popen:
        """Starts a command there, in a session of its own."""
        options = {"stdin": subprocess.DEVNULL, "text": True, "start_new_session": True, **options}
        return subprocess.Popen(self._entered(words, cwd), **options)

    def run(
        self, *words: str | Path, cwd: str | Path = "/", timeout: float = 60.0, **options
    ) -> subprocess.CompletedProcess:
        """Runs a command there to its end."""
        options = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True, **options}
        return subprocess.run(self._entered(words, cwd), timeout=timeout, check=False, **options)

    def processes(self, part: str) -> list[int]:
        """Returns those whose command line holds a text, by their numbers out here."""
        space = _namespace(self.pid)
        return [pid for pid in _pids() if _namespace(pid) == space and part in _command(pid)]

    def _entered(self, words: Sequence[str | Path], cwd: str | Path) -> list[str]:
        spaces = ("--net", "--mount", "--pid", "--uts")
        return ["nsenter", f"--target={self.pid}", *spaces, f"--wdns={cwd}", "--", *map(str, words)]


@contextmanager
def hosts(*names: str, tmp: str = "1g") -> Iterator[list[NetHost]]:
    """Yields hosts that reach one another.

    Args:
        names: of them.
        tmp: size of their ``/tmp``.
    """
    with ExitStack() as stack:
        wire = Holder("--net")
        stack.callback(wire.close)
        ip("link", "add", "bridge", "type", "bridge", inside=wire)
        ip("link", "set", "bridge", "up", inside=wire)
        made = []
        for number, name in enumerate(names, start=1):
            made.append(NetHost(wire, number, name, tmp))
            stack.callback(made[-1].close)
        yield made


def lacking() -> str:
    """Returns what this machine lacks for it; empty where nothing."""
    if os.geteuid() != 0:
        return "only root can make network namespaces"
    missing = [tool for tool in ("ip", "nsenter", "setpriv", "unshare") if shutil.which(tool) is None]
    if missing:
        return f"{', '.join(missing)} not found; on Debian: apt-get install iproute2 util-linux"
    tried = subprocess.run(["unshare", "--net", "true"], capture_output=True, text=True, check=False)
    return tried.stderr.strip()


def ip(*words: object, inside: Holder | None = None) -> str:
    """Runs the command of this name; returns what it prints."""
    entry = ["nsenter", f"--target={inside.pid}", "--net"] if inside else []
    done = subprocess.run([*entry, "ip", *map(str, words)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def _pids() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def _namespace(pid: int) -> str:
    try:
        return str(Path(f"/proc/{pid}/ns/pid").readlink())
    except OSError:
        return ""


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""
