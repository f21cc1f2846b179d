"""The docker backend: containers that stay warm, one job at a time in each, thrown away after any incident."""

from __future__ import annotations

import itertools
import threading
from collections import defaultdict
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from whet.core.errors import SandboxError
from whet.sandbox import docker_engine
from whet.sandbox.container import GONE, Container, ContainerProcess
from whet.sandbox.docker_options import Shape
from whet.sandbox.protections import ALL_ON, Protections
from whet.sandbox.protocol import Job, Session
from whet.sandbox.session import PipeSession
from whet.sandbox.staging import Staging, first_words

REMOVERS = 4


class Docker:
    """A `Sandbox` of docker containers."""

    name = "docker"

    def __init__(self, protections: Protections = ALL_ON) -> None:
        self._on = protections
        self._engine = docker_engine.connect()
        docker_engine.remove_leftovers(self._engine)
        self._image = docker_engine.image(self._engine)
        self._staging = Staging()
        self._slots = itertools.count()
        self._lock = threading.Lock()
        self._idle: defaultdict[Shape, list[Container]] = defaultdict(list)
        self._alive: set[Container] = set()
        self._removers = ThreadPoolExecutor(REMOVERS, thread_name_prefix="whet-remover")

    @property
    def facts(self) -> Mapping[str, Any]:
        """See `whet.sandbox.protocol.Sandbox.facts`."""
        return {
            "backend": self.name,
            "version": self._engine.version()["Version"],
            "image": self._image[0],
            "network": False,
            "seccomp": True,
            "root_dropped": True,
        }

    def stage(self, name: str, files: Mapping[str, bytes], executable: bool = False) -> Path:
        """See `whet.sandbox.protocol.Sandbox.stage`."""
        return self._staging.stage(name, files, executable)

    def open(self, job: Job) -> Session:
        """See `whet.sandbox.protocol.Sandbox.open`."""
        self._staging.compile(job.interpreter)
        session = PipeSession(self._started(job), "/src", job.limits.output, self._on)
        session.tell(*first_words(job, 0, protections=self._on))
        return session

    def close(self) -> None:
        """Removes all containers; the skeleton image stays for the next run."""
        for container in self._alive.copy():
            self._drop(container)
        self._removers.shutdown()
        self._engine.close()
        self._staging.close()

    def _started(self, job: Job) -> ContainerProcess:
        shape = Shape.of(job)
        while (idle := self._take(shape)) is not None:
            try:
                if not job.gauged or idle.rewound():
                    return idle.start(job, self._released)
            except GONE:  # somebody removed it meanwhile
                pass
            self._drop(idle)
        made = self._make(shape)
        try:
            return made.start(job, self._released)
        except GONE as error:
            self._drop(made)
            raise SandboxError(f"a container does not take a job: {error}") from None

    def _take(self, shape: Shape) -> Container | None:
        with self._lock:
            return self._idle[shape].pop() if self._idle[shape] else None

    def _make(self, shape: Shape) -> Container:
        slot = next(self._slots)
        door = self._staging.folder / "doors" / str(slot)
        made = Container(self._engine, self._image, self._staging.program, door, shape, slot, self._on)
        with self._lock:
            self._alive.add(made)
        return made

    def _released(self, container: Container, spoiled: bool) -> None:
        if spoiled:
            self._drop(container)
        else:
            with self._lock:
                self._idle[container.shape].append(container)

    def _drop(self, container: Container) -> None:
        """Removes a container, once; nobody waits for it."""
        with self._lock:
            if container in self._alive:
                self._alive.remove(container)
                self._removers.submit(container.remove)
