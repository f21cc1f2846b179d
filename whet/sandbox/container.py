"""One container with a keeper in it, and the processes that the keeper starts there.

A process gets pipes of ours, handed over to the keeper with the job. So the engine is asked only to make and to
remove containers: it copies no byte between a candidate and us, takes no time on the measured path, and cannot be
blocked by output that nobody reads.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from whet.core.errors import SandboxError
from whet.sandbox import docker_engine
from whet.sandbox.docker_options import Shape, options
from whet.sandbox.gauge import Gauge, gauge
from whet.sandbox.inside import keeper
from whet.sandbox.inside.link import Link
from whet.sandbox.process_tree import tree
from whet.sandbox.protections import ALL_ON, Protections
from whet.sandbox.protocol import Incident, Job
from whet.sandbox.session import crash
from whet.sandbox.staging import FIRST_UID, SLOTS, boot, environment

START_SECONDS = 20.0
ANSWER_SECONDS = 10.0
GRACE_SECONDS = 0.05
MOST_SAID = 1 << 16
GONE = (OSError, EOFError)
"""What a keeper that does not answer raises."""


class Container:
    """A container and the link to its keeper."""

    def __init__(
        self,
        engine: Any,
        image: tuple[str, bool],
        program: Path,
        door: Path,
        shape: Shape,
        slot: int,
        protections: Protections = ALL_ON,
    ):
        """Starts it.

        Args:
            engine: client of the docker engine.
            image: its name, and whether it has a ``/usr`` of its own.
            program: host folder of the program inside.
            door: host folder for the socket over which the keeper calls; made here.
            shape: what it must be like.
            slot: a number of its own.
            protections: what keeps its jobs in.

        Raises:
            SandboxError: it does not start.
        """
        self.shape = shape
        self._user = FIRST_UID + slot % SLOTS if protections.drop_privileges else 0
        door.mkdir(parents=True)
        for folder in (door.parent, door):
            folder.chmod(0o711)  # for a keeper that is somebody else to a user who is not root
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
            place = door / Path(keeper.DOOR).name
            listener.bind(str(place))
            place.chmod(0o666)
            listener.listen(1)
            self._handle = self._started(engine, image[0], options(engine, image[1], program, door, shape, protections))
            connected = self._called(listener)
            place.unlink()
        connected.settimeout(ANSWER_SECONDS)
        self._link = Link(connected)
        try:
            _, events = self._link.receive()
        except GONE as error:
            self.remove()
            raise SandboxError(f"the program inside a container does not run: {error}") from None
        self._events = events[0] if events else None
        self._gauge: Gauge | None = None
        self._base = 0
        self._pid = 0

    def _started(self, engine: Any, image: str, settings: dict[str, Any]) -> Any:
        import docker

        handle = None
        try:
            handle = engine.containers.create(image, boot(self.shape.interpreter, "keeper"), **settings)
            handle.start()
            return handle
        except (docker.errors.DockerException, OSError) as error:
            if handle is not None:
                docker_engine.remove(handle)
            raise SandboxError(f"docker could not start a container: {_explained(error)}") from None

    def _called(self, listener: socket.socket) -> socket.socket:
        """Waits for the keeper's call."""
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

    def start(self, job: Job, release: Callable[[Container, bool], None]) -> ContainerProcess:
        """Starts a job.

        Args:
            job: fits the shape.
            release: is told when it has ended, and whether something went wrong.

        Raises:
            OSError: the keeper does not answer.
            EOFError: the keeper is gone.
        """
        if job.gauged:
            self.rewound()
        stdin, our_stdin = os.pipe2(os.O_CLOEXEC)
        our_stdout, stdout = os.pipe2(os.O_CLOEXEC)
        our_stderr, stderr = os.pipe2(os.O_CLOEXEC)
        try:
            # A copy in memory of the container's own: no other job's tree is ever in its sight.
            argv, variables = boot(job.interpreter, job.program), [*environment(job).items()]
            self._link.send(("start", argv, variables, self._user, read_tree(job.tree)), (stdin, stdout, stderr))
            answer, _ = self._link.receive()
            if answer[0] != "started":
                raise OSError(answer[1])
        except GONE:
            for descriptor in (our_stdin, our_stdout, our_stderr):
                os.close(descriptor)
            raise
        finally:
            for descriptor in (stdin, stdout, stderr):
                os.close(descriptor)
        return ContainerProcess(self, release, our_stdin, our_stdout, our_stderr)

    def end(self, grace: float = 0.0) -> tuple[int, bool]:
        """Ends the job; returns its return code and whether nothing of it is left.

        Raises:
            OSError: the keeper does not answer.
            EOFError: the keeper is gone.
        """
        self._link.send(("end", grace))
        (_, code, clean), _ = self._link.receive()
        return code, clean

    def ran_out_of_memory(self) -> bool:
        """Whether the kernel has killed a process of this container at its limit, since it was made."""
        if self._events is None:
            return False
        with suppress(OSError):  # its group goes with the container
            rows = os.pread(self._events, 4096, 0).split(b"\n")
            return any(row.startswith(b"oom_kill ") and row != b"oom_kill 0" for row in rows)
        return False

    @property
    def pid(self) -> int:
        """Its first process, by its number out here."""
        if self._pid == 0:
            self._handle.reload()
            self._pid = int(self._handle.attrs["State"]["Pid"])
        return self._pid

    def _measured(self) -> Gauge | None:
        if self._gauge is None:
            self._gauge = gauge(self.pid)
        return self._gauge

    def rewound(self) -> bool:
        """Begins its peak anew; returns False where that still holds what was used before."""
        found = self._measured()
        if found is None or not found.reset():
            return False
        self._base = found.peak()
        return True

    def peak(self) -> int | None:
        """Returns by how many bytes its peak rose above what was used when it began anew; None where nobody tells."""
        found = self._measured()
        return None if found is None else max(0, found.peak() - self._base)

    def remove(self) -> None:
        """Kills and removes it."""
        if self._gauge is not None:
            self._gauge.close()
            self._gauge = None
        docker_engine.remove(self._handle)
        self._link.close()
        if self._events is not None:
            os.close(self._events)
            self._events = None


class ContainerProcess:
    """A `whet.sandbox.session.Child` that a keeper started."""

    def __init__(
        self, container: Container, release: Callable[[Container, bool], None], stdin: int, stdout: int, stderr: int
    ) -> None:
        self.stdin, self.stdout = stdin, stdout
        self._stderr = stderr
        self._container = container
        self._release = release
        self._ended = False

    def fate(self) -> Incident:
        """See `whet.sandbox.session.Child.fate`."""
        self._ended = True
        try:
            code, _ = self._container.end(GRACE_SECONDS)
        except GONE:
            return Incident("crash", "the container ended")
        os.set_blocking(self._stderr, False)
        said = b""
        with suppress(BlockingIOError):
            said = os.read(self._stderr, MOST_SAID)
        return crash(code, said.decode("utf-8", "replace").strip())

    def overdrawn(self) -> Incident | None:
        """See `whet.sandbox.session.Child.overdrawn`."""
        if self._container.ran_out_of_memory():
            return Incident("memory", f"out of memory: the limit is {self._container.shape.memory >> 20} MiB")
        return None

    def peak(self) -> int | None:
        """See `whet.sandbox.session.Child.peak`."""
        return self._container.peak()

    def reset(self) -> None:
        """See `whet.sandbox.session.Child.reset`."""
        self._container.rewound()

    def pids(self) -> list[int]:
        """See `whet.sandbox.session.Child.pids`."""
        return list(tree(self._container.pid))

    def close(self, spoiled: bool) -> None:
        """See `whet.sandbox.session.Child.close`."""
        if not self._ended:
            self._ended = True
            try:
                clean = self._container.end()[1]
            except GONE:
                clean = False
            spoiled = spoiled or not clean
        for descriptor in (self.stdin, self.stdout, self._stderr):
            os.close(descriptor)
        self._release(self._container, spoiled or self._container.ran_out_of_memory())


def read_tree(tree: Path | None) -> list[tuple[str, bytes, bool]]:
    """Returns the files of a tree: path, bytes, whether it is a program."""
    if tree is None:
        return []
    files = [path for path in tree.rglob("*") if path.is_file()]
    return [(str(path.relative_to(tree)), path.read_bytes(), bool(path.stat().st_mode & 0o100)) for path in files]


def _explained(error: Exception) -> str:
    return str(getattr(error, "explanation", None) or error)
