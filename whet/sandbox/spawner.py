"""Starts the processes of bubblewrap: from one thread, which sees more of the host's files than its users may."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from whet.core.errors import SandboxError
from whet.sandbox.cores import on_core
from whet.sandbox.inside import kernel
from whet.sandbox.process_tree import children

Answer = TypeVar("Answer")

REAP_SECONDS = 0.05
"""Seconds that bubblewrap may take to end once its init is killed, before its group is killed too. With less, more
orphans are left to the first process of this machine; more delays ending a sandbox that is not made yet."""


class Spawner:
    """A thread that stays: the kernel ends a sandbox when the thread that started it ends."""

    def __init__(self, views: Path) -> None:
        """Starts the thread.

        Args:
            views: a folder of ours in which others' folders can be shown.
        """
        self._views = views
        self._shown: dict[Path, Path] = {}
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="whet-spawner")

    def show(self, folder: Path) -> Path:
        """Returns where the processes started here see a folder that only root can reach."""
        return self.run(self._show, folder)

    def run(self, call: Callable[..., Answer], *arguments: object) -> Answer:
        """Calls something in the thread."""
        return self._executor.submit(call, *arguments).result()

    def start(
        self,
        argv: list[str],
        cores: tuple[int, ...],
        environment: Mapping[str, str] | None,
        descriptors: tuple[int, ...],
        stdin: int = subprocess.DEVNULL,
    ) -> subprocess.Popen[bytes]:
        """Starts a process that leads a group of its own; its stdout is nowhere, its stderr a pipe.

        Args:
            argv: its command.
            cores: processors that it may run on; empty leaves them as they are.
            environment: all of it; None is ours.
            descriptors: what it inherits.
            stdin: a descriptor that it reads.

        Raises:
            SandboxError: it does not start.
        """
        try:
            return self.run(self._start, argv, cores, environment, descriptors, stdin)
        except OSError as error:
            raise SandboxError(f"bubblewrap could not be started: {error}") from None

    def close(self) -> None:
        """Ends the thread, and with it all that it started."""
        self._executor.shutdown()

    def _show(self, folder: Path) -> Path:
        if not self._shown:
            # This thread's alone: nobody but those whom it starts sees what it mounts.
            kernel.unshare(kernel.CLONE_NEWNS)
            kernel.mount("none", "/", flags=kernel.MS_REC | kernel.MS_SLAVE)
        if folder not in self._shown:
            place = self._views / str(len(self._shown))
            place.mkdir(parents=True)
            kernel.mount(str(folder), str(place), flags=kernel.MS_BIND)
            self._shown[folder] = place
        return self._shown[folder]

    def _start(
        self,
        argv: list[str],
        cores: tuple[int, ...],
        environment: Mapping[str, str] | None,
        descriptors: tuple[int, ...],
        stdin: int,
    ) -> subprocess.Popen[bytes]:
        with on_core(*cores):
            return subprocess.Popen(
                argv,
                stdin=stdin,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                env=environment,
                cwd="/",
                pass_fds=descriptors,
                process_group=0,
            )


def end(process: subprocess.Popen[bytes]) -> None:
    """Ends a sandbox: its init first, with which all within ends, so that bubblewrap reaps it and ends itself.

    An orphan would wait for the first process of this machine to bury it, and count as a process of its group till
    then.
    """
    for pid in children(process.pid):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    try:
        process.wait(REAP_SECONDS)
    except subprocess.TimeoutExpired:  # it had not made its sandbox yet
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def inheritable() -> tuple[int, ...]:
    """Returns the descriptors, of files that are not the standard ones, that a child would get."""
    found = []
    for entry in Path("/proc/self/fd").iterdir():
        with suppress(OSError):  # the one of this list itself
            if int(entry.name) > 2 and os.get_inheritable(int(entry.name)):
                found.append(int(entry.name))
    return tuple(found)
