"""A warm worker of the bubblewrap backend: one sandbox that forks job after job, each into namespaces of its own."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any

from whet.core.errors import SandboxError
from whet.sandbox.inside.link import Link
from whet.sandbox.job_server import ANSWER_SECONDS, GONE, PRELOAD_SECONDS, JobServer, Release, ServedProcess, Unfit
from whet.sandbox.process_tree import tree
from whet.sandbox.protocol import Incident, Job
from whet.sandbox.slots import Slot
from whet.sandbox.spawner import end
from whet.sandbox.usage import ProcessUsage
from whet.sandbox.watchdog import Bounds, Watchdog


class ForkServer(JobServer):
    """A sandbox with `whet.sandbox.inside.forkserver` in it, and the link to that."""

    def __init__(
        self,
        start: Callable[[int], subprocess.Popen[bytes]],
        rules: Sequence[Any],
        watchdog: Watchdog,
        bounds: Bounds,
        slot: Slot,
        release: Callable[[Slot], None],
    ) -> None:
        """Starts it.

        Args:
            start: starts the sandbox with one end of the link as its stdin.
            rules: of `whet.sandbox.inside.forkserver.Rules`.
            watchdog: looks after it from now on.
            bounds: what it may use, with what it has imported.
            slot: in which it is started.
            release: is given the slot when it has ended, or has never begun.

        Raises:
            SandboxError: it does not start.
            Unfit: it cannot be forked from, with what it was told to import.
        """
        with ExitStack() as undoing:
            undoing.callback(release, slot)
            ours, theirs = socket.socketpair()
            undoing.callback(ours.close)
            with theirs:
                self._process = start(theirs.fileno())
            undoing.pop_all()
        super().__init__(Link(ours), ProcessUsage(lambda: list(tree(self.pid)), group_cpu=slot.cpu))
        self.excess: Incident | None = None
        self._watchdog = watchdog
        self._slot = slot
        self._release = release
        watchdog.watch(self, bounds)
        ours.settimeout(PRELOAD_SECONDS)
        try:
            self._link.send(tuple(rules))
            (_, fit), _ = self._link.receive()
        except GONE as error:
            self.stop(None)
            assert self._process.stderr is not None
            said = self._process.stderr.read().decode("utf-8", "replace").strip().splitlines()
            self.remove()
            raise SandboxError(f"a warm worker could not be made: {said[0] if said else error}") from None
        ours.settimeout(ANSWER_SECONDS)
        if not fit:
            self.remove()
            raise Unfit

    @property
    def pid(self) -> int:
        """See `whet.sandbox.watchdog.WatchedTree.pid`."""
        return self._process.pid

    def start(self, job: Job, release: Release) -> ServedProcess:
        """See `JobServer.start`."""
        return self._hand_over((job.program,), job.tree, release)

    def limit_incident(self) -> Incident | None:
        """See `JobServer.limit_incident`."""
        return self.excess or self._slot.limit_incident()

    def stop(self, excess: Incident | None) -> None:
        """Ends all of it, for what it used if for anything."""
        self.excess = excess
        end(self._process)

    def remove(self) -> None:
        """See `JobServer.remove`."""
        self._watchdog.forget(self)
        self.stop(self.excess)
        self._process.wait()
        assert self._process.stderr is not None
        self._process.stderr.close()
        self._link.close()
        self._release(self._slot)
