"""One container with a supervisor in it, which starts processes there.

A process gets pipes of ours, handed over to the supervisor with the job. So the engine is asked only to make and to
remove containers: it copies no byte between a candidate and us, takes no time on the measured path, and cannot be
blocked by output that nobody reads.
"""

from __future__ import annotations

import os
import socket
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from whet.core.errors import SandboxError
from whet.sandbox import docker_engine
from whet.sandbox.control_group import kills
from whet.sandbox.cpu_account import CpuAccount, account_of
from whet.sandbox.devices import DEV
from whet.sandbox.docker_options import Shape, options
from whet.sandbox.gauge import Gauge, gauge
from whet.sandbox.inside import supervisor
from whet.sandbox.inside.link import Link
from whet.sandbox.job_server import (
    ANSWER_SECONDS,
    FORKABLE,
    GONE,
    PRELOAD_SECONDS,
    JobServer,
    Release,
    ServedProcess,
    Unfit,
)
from whet.sandbox.process_tree import tree
from whet.sandbox.protocol import Incident, Job
from whet.sandbox.staging import FIRST_UID, SLOTS, boot, environment
from whet.sandbox.usage import ProcessUsage

START_SECONDS = 20.0
"""Seconds from a container's start until its supervisor must have called. To make a container takes a quarter of a
second on an idle machine; less fails on a busy one, more only makes a broken engine slower to report."""


class Container(JobServer):
    """A container and the link to its supervisor."""

    def __init__(
        self,
        engine: Any,
        image: tuple[str, bool],
        program: Path,
        folder: Path,
        shape: Shape,
        slot: int,
        devices: Path = DEV,
    ) -> None:
        """Starts it.

        Args:
            engine: client of the docker engine.
            image: its name, and whether it has a ``/usr`` of its own.
            program: host folder of the program inside.
            folder: host folder for the socket over which the supervisor calls; made here.
            shape: what it must be like.
            slot: a number of its own.
            devices: host folder of the GPUs' nodes.

        Raises:
            SandboxError: it does not start.
            Unfit: its supervisor, with what it was told to import, cannot be forked from.
        """
        self.shape = shape
        self._user = FIRST_UID + slot % SLOTS
        folder.mkdir(parents=True)
        for place in (folder.parent, folder):
            place.chmod(0o711)  # for a supervisor that is somebody else to a user who is not root
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
            place = folder / Path(supervisor.SOCKET).name
            listener.bind(str(place))
            place.chmod(0o666)
            listener.listen(1)
            settings = options(engine, image[1], program, folder, shape, devices)
            self._handle = self._started(engine, image[0], settings)
            connected = self._called(listener)
            place.unlink()
        super().__init__(Link(connected), ProcessUsage(self._pids, self._measured, self._group_cpu))
        self._gauge: Gauge | None = None
        self._account: CpuAccount | None = None
        self._events: int | None = None
        connected.settimeout(PRELOAD_SECONDS)
        try:
            (_, fit), events = self._link.receive()
        except GONE as error:
            self.remove()
            raise SandboxError(f"the program inside a container does not run: {error}") from None
        connected.settimeout(ANSWER_SECONDS)
        self._events = events[0] if events else None
        self._pid = 0
        self._used = False
        if shape.preload is not None and not fit:
            self.remove()
            raise Unfit

    @property
    def id(self) -> str:
        """By which the engine knows it."""
        name: str = self._handle.id
        return name

    def _started(self, engine: Any, image: str, settings: dict[str, Any]) -> Any:
        import docker

        handle = None
        try:
            modules = () if self.shape.preload is None else (*FORKABLE, *self.shape.preload)
            handle = engine.containers.create(
                image, [*boot(self.shape.interpreter, "supervisor"), *modules], **settings
            )
            handle.start()
            return handle
        except (docker.errors.DockerException, OSError) as error:
            if handle is not None:
                docker_engine.remove(handle)
            raise SandboxError(f"docker could not start a container: {_explained(error)}") from None

    def _called(self, listener: socket.socket) -> socket.socket:
        """Waits for the supervisor's call."""
        import docker

        listener.settimeout(0.25)
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            try:
                return listener.accept()[0]
            except TimeoutError:
                with suppress(docker.errors.NotFound):  # it removes itself when it ends
                    self._handle.reload()
                    if self._handle.status in ("created", "running"):
                        continue
                break
        docker_engine.remove(self._handle)
        raise SandboxError(f"{self.shape.interpreter.executable} does not run in a container of this image")

    def start(self, job: Job, release: Release) -> ServedProcess:
        """See `JobServer.start`."""
        used, self._used = self._used, True
        if job.gauged and not ((group := self._measured()) and group.reset()) and used:
            raise OSError("its peak of memory still holds what an earlier job used")
        return self._hand_over(self._order(job), job.tree, release)

    def _order(self, job: Job) -> tuple[Any, ...]:
        """Returns what the supervisor is told of a job; see `whet.sandbox.inside.supervisor`."""
        argv, variables = boot(job.interpreter, job.program, packages=job.packages), environment(job)
        program: tuple[Any, ...] = (argv, [*variables.items()]) if job.preload is None else ([job.program], None)
        sweeps = wipes = True
        return (*program, self._user, job.profiling, sweeps, wipes)

    def limit_incident(self) -> Incident | None:
        """See `JobServer.limit_incident`."""
        if self._ran_out_of_memory():
            return Incident("memory", f"out of memory: the limit is {self.shape.memory >> 20} MiB")
        return None

    def _ran_out_of_memory(self) -> bool:
        """Whether the kernel has killed a process of this container at its limit, since it was made."""
        if self._events is None:
            return False
        with suppress(OSError):  # its group goes with the container
            return kills(self._events) > 0
        return False

    def _pids(self) -> list[int]:
        """Returns no processes where the container ended, or where the engine numbers processes otherwise."""
        import docker

        with suppress(docker.errors.DockerException, OSError):
            if self._pid == 0:
                self._handle.reload()
                self._pid = int(self._handle.attrs["State"]["Pid"])
            if self._handle.id in Path(f"/proc/{self._pid}/cgroup").read_text():
                return list(tree(self._pid))
        return []

    def _group_cpu(self) -> float | None:
        if self._account is None:
            self._account = next((account_of(pid, self.id) for pid in self._pids()[:1]), None)
        return None if self._account is None else self._account.seconds()

    def _measured(self) -> Gauge | None:
        if self._gauge is None:
            self._gauge = next((gauge(pid) for pid in self._pids()[:1]), None)
        return self._gauge

    def remove(self) -> None:
        """See `JobServer.remove`."""
        if self._gauge is not None:
            self._gauge.close()
            self._gauge = None
        if self._account is not None:
            self._account.close()
            self._account = None
        docker_engine.remove(self._handle)
        self._link.close()
        if self._events is not None:
            os.close(self._events)
            self._events = None


def _explained(error: Exception) -> str:
    return str(getattr(error, "explanation", None) or error)
