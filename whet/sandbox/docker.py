"""The docker backend: containers that stay warm, one job at a time in each, thrown away after any incident."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from whet.sandbox import docker_engine
from whet.sandbox.container import Container
from whet.sandbox.devices import DEV
from whet.sandbox.docker_options import Shape, knows_perfmon
from whet.sandbox.inside import landlock
from whet.sandbox.inside.forking import TREE
from whet.sandbox.job_server import Unfit, begun
from whet.sandbox.pool import Pool
from whet.sandbox.protocol import NO_LINKS, Job, Session
from whet.sandbox.session import Child, PipeSession
from whet.sandbox.staging import FIRST_UID, READABLE, Staging, access_rules, first_words

REMOVERS = 4
"""Threads that remove containers beside the jobs. More ask more of the engine at once; with fewer, containers that wait
to be removed keep their memory for longer."""


class Docker:
    """A `Sandbox` of docker containers."""

    name = "docker"

    def __init__(self, devices: Path = DEV) -> None:
        self._devices = devices
        self._engine = docker_engine.connect()
        docker_engine.remove_leftovers(self._engine)
        self._image = docker_engine.image(self._engine)
        self._staging = Staging()
        self._slots = itertools.count()
        self._removers = ThreadPoolExecutor(REMOVERS, thread_name_prefix="whet-remover")
        # Nobody waits for a container to be removed.
        self._pool = Pool(Shape.of, self._make, lambda container: self._removers.submit(container.remove))

    @property
    def facts(self) -> Mapping[str, Any]:
        """See `whet.sandbox.protocol.Sandbox.facts`."""
        return {
            "backend": self.name,
            "version": self._engine.version()["Version"],
            "image": self._image[0],
            "network": False,
            "seccomp": True,
            "landlock": landlock.version(),
            "control_group": True,
            "root_dropped": True,
            "first_user": FIRST_UID,
            "perfmon": knows_perfmon(self._engine),
        }

    def stage(
        self, name: str, files: Mapping[str, bytes], executable: bool = False, links: Mapping[str, str] = NO_LINKS
    ) -> Path:
        """See `whet.sandbox.protocol.Sandbox.stage`."""
        return self._staging.stage(name, files, executable, links)

    def open(self, job: Job) -> Session:
        """See `whet.sandbox.protocol.Sandbox.open`."""
        self._staging.compile(job.interpreter)
        try:
            child = self._pool.start(job)
        except Unfit:
            child = self._pool.start(replace(job, preload=None, worker=0))
        return self._begun(child, job)

    def _begun(self, child: Child, job: Job) -> Session:
        """Returns the talk with a job's process."""
        return begun(PipeSession(child, TREE, job.limits.output), self._words(job))

    def _words(self, job: Job) -> list[Any]:
        """Returns the first message to a job; the container counts its processes."""
        # An image of its own holds nothing of the host: all of it may be read.
        return first_words(job, 0, rules=access_rules(job, self._devices, ("/",) if self._image[1] else READABLE))

    def close(self) -> None:
        """Removes all containers; the skeleton image stays for the next run."""
        self._pool.close()
        self._removers.shutdown()
        self._engine.close()
        self._staging.close()

    def _make(self, job: Job) -> Container:
        slot = next(self._slots)
        return self._container(self._staging.folder / "sockets" / str(slot), Shape.of(job), slot)

    def _container(self, folder: Path, shape: Shape, slot: int) -> Container:
        return Container(self._engine, self._image, self._staging.program, folder, shape, slot, self._devices)
