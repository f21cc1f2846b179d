"""Sandboxes with protections off, so that the corpus can show what each of them is for.

The sandboxes themselves have no such switches: what one of them orders is changed here on its way out. A change that
finds nothing to change raises, so that no row of a table comes from a sandbox that was whole after all.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from whet.sandbox.bubblewrap import Bubblewrap
from whet.sandbox.container import Container
from whet.sandbox.devices import DEV
from whet.sandbox.docker import Docker
from whet.sandbox.docker_options import INODES, Shape
from whet.sandbox.inside import kernel
from whet.sandbox.inside.forking import TREE
from whet.sandbox.job_server import begun
from whet.sandbox.protocol import Job, Session
from whet.sandbox.session import Child, PipeSession
from whet.sandbox.slots import Slot
from whet.sandbox.spawner import Spawner, inheritable
from whet.sandbox.staging import PATH
from whet.sandbox.watchdog import Bounds
from whet.testing.attacks.protections import Protections

HIDDEN_FOLDER = "/var"
"""Part of what ``hidden_host_files`` hides."""
KERNEL_LOG = "/dev/kmsg"
UNLIMITED = 1 << 30
"""Bytes of an answer, or of a folder, where there is no bound."""


class LaxSession(PipeSession):
    """A session that takes longer answers, or such as stand there before their question."""

    def __init__(self, child: Child, job: Job, on: Protections) -> None:
        super().__init__(child, TREE, job.limits.output if on.answer_limit else UNLIMITED)
        self._on = on

    def _expect_silence(self) -> None:
        if self._on.turns:
            super()._expect_silence()


def lax_words(words: list[Any], on: Protections) -> list[Any]:
    """Returns the first message to a job without the limits that are off; see `whet.sandbox.staging.first_words`."""
    *place, memory, processes, output, rules = words
    if len(place) > 2:
        place[2] = on.pid_namespace
    return [
        *place,
        memory if on.address_limit else 0,
        processes if on.process_limit else 0,
        output if on.file_limit else 0,
        rules if on.landlock else [],
    ]


class WeakBubblewrap(Bubblewrap):
    """Bubblewrap with some protections off."""

    def __init__(self, on: Protections, devices: Path = DEV, control_groups: bool = True) -> None:
        """Looks for what this machine offers; see `Bubblewrap`."""
        self._on = on
        super().__init__(devices, control_groups)
        self._filtered = self._filtered and on.seccomp

    @property
    def facts(self) -> Mapping[str, Any]:
        """See `whet.sandbox.protocol.Sandbox.facts`."""
        return super().facts if self._on.landlock else {**super().facts, "landlock": 0}

    def _begun(self, child: Child, job: Job, own: int) -> Session:
        return begun(LaxSession(child, job, self._on), lax_words(self._words(job, own), self._on))

    def _spawn(
        self, slot: Slot, argv: list[str], job: Job, descriptors: tuple[int, ...], stdin: int = subprocess.DEVNULL
    ) -> subprocess.Popen[bytes]:
        environment = {"PATH": PATH} if self._on.empty_environment else None
        inherited = () if self._on.closed_descriptors else inheritable()
        return slot.spawner.start(argv, job.cores, environment, (*descriptors, *inherited), stdin)

    def _prepare(self, slot: Slot, job: Job, own: int) -> None:
        super()._prepare(slot, job, own)
        if self._users is not None and slot.user is not None and not self._on.drop_privileges:
            self._users.give(slot.user)
            slot.user = None

    def _most(self, job: Job, own: int) -> tuple[int, int]:
        memory, processes = super()._most(job, own)
        return memory if self._on.memory_limit else 0, processes if self._on.process_limit else 0

    def _bounds(self, job: Job) -> Bounds:
        bounds = super()._bounds(job)
        if not (self._on.inode_limit and self._on.fresh_folders):  # a shared folder holds other people's files too
            bounds = replace(bounds, files=0)
        return bounds if self._on.memory_limit else replace(bounds, memory=0)

    def _rules(self, job: Job) -> tuple[Any, ...]:
        namespaces, folders, kept, no_rights, calls = super()._rules(job)
        for flag, on in ((kernel.CLONE_NEWPID, self._on.pid_namespace), (kernel.CLONE_NEWIPC, self._on.ipc_namespace)):
            namespaces &= -1 if on else ~flag
        if not self._on.sized_folders:
            folders = [(folder, options.partition(",size=")[0]) for folder, options in folders]
        return namespaces, folders if self._on.fresh_folders else [], kept, no_rights and self._on.capabilities, calls

    def _bwrap(self, job: Job, spawner: Spawner, descriptors: list[int] | None = None) -> list[str]:
        on, argv = self._on, super()._bwrap(job, spawner, descriptors)
        for kind, own in (("pid", on.pid_namespace), ("net", on.network), ("ipc", on.ipc_namespace)):
            argv = argv if own else changed(argv, [f"--unshare-{kind}"], [])
        if not on.empty_environment:
            argv = changed(argv, ["--clearenv"], [])
        if not on.hidden_host_files:
            usr = ["--ro-bind", "/usr", "/usr"]
            argv = changed(argv, usr, [*usr, "--ro-bind-try", HIDDEN_FOLDER, HIDDEN_FOLDER])
        if not on.own_devices:
            argv = changed(
                changed(argv, ["--remount-ro", "/dev"], []), ["--dev", "/dev"], ["--dev-bind", "/dev", "/dev"]
            )
        if not on.read_only_root:
            argv = changed(argv, ["--remount-ro", "/"], [])
            if job.tree is not None:
                tree = [str(job.tree), TREE]
                argv = changed(argv, ["--ro-bind", *tree], ["--bind", *tree])
        if not on.capabilities:
            argv = changed(argv, ["--cap-drop", "ALL"], ["--cap-add", "ALL"])
        return argv

    def _own(self, job: Job) -> list[str]:
        argv = super()._own(job)
        if not self._on.sized_folders:
            for folder, size in self._writable(job).items():
                argv = changed(argv, ["--size", str(size), "--tmpfs", folder], ["--tmpfs", folder])
        return argv if self._on.fresh_folders else [*argv, "--bind", str(self._shared(job)), "/tmp"]

    def _shared(self, job: Job) -> Path:
        """Makes the folder that all jobs have for /tmp."""
        shared = self._staging.folder / "shared"
        shared.mkdir(exist_ok=True)
        shared.chmod(0o777)
        for home in job.interpreter.folders:  # else the first job to come would own the way to it
            if home.is_relative_to("/tmp"):
                (shared / home.relative_to("/tmp")).mkdir(parents=True, exist_ok=True)
        return shared


class WeakContainer(Container):
    """A container with some protections off."""

    def __init__(self, on: Protections, neighbour: str, *arguments: Any) -> None:
        """Starts it.

        Args:
            on: which are on.
            neighbour: the container whose processes it sees where ``pid_namespace`` is off; empty is none.
            arguments: see `Container`.
        """
        self._on = on
        self._neighbour = neighbour
        super().__init__(*arguments)
        self._user = self._user if on.drop_privileges else 0

    def _started(self, engine: Any, image: str, settings: dict[str, Any]) -> Any:
        return super()._started(engine, image, self._settings(settings))

    def _settings(self, settings: dict[str, Any]) -> dict[str, Any]:
        """Returns what the engine is told."""
        on = self._on
        others: dict[str, Any] = {}
        if not on.network:
            others["network_mode"] = "host"
        if not on.capabilities:
            others["cap_drop"] = []  # the engine's usual ones are dropped then
        if not on.seccomp:
            others["security_opt"] = ["no-new-privileges", "seccomp=unconfined"]
        if not on.read_only_root:
            others["read_only"] = False
        if not on.ipc_namespace:
            others["ipc_mode"] = "host"
        if not on.pid_namespace and self._neighbour:  # never the host's
            others["pid_mode"] = f"container:{self._neighbour}"
        if not on.own_devices:
            others["devices"] = [f"{KERNEL_LOG}:{KERNEL_LOG}:r"]
        if not on.empty_environment:
            others["environment"] = {**os.environ, **settings["environment"]}
        if not on.process_limit:
            others["pids_limit"] = None
        if not on.memory_limit:
            others |= {"mem_limit": None, "memswap_limit": None}
        if not on.hidden_host_files:
            others["volumes"] = [*settings["volumes"], f"{HIDDEN_FOLDER}:{HIDDEN_FOLDER}:ro"]
        others["tmpfs"] = {folder: self._folder(options) for folder, options in settings["tmpfs"].items()}
        return {**settings, **others}

    def _folder(self, options: str) -> str:
        """Returns the options of a folder in memory; the tree's is the only one with a mode."""
        words = options.split(",")
        if not self._on.inode_limit:
            words.remove(f"nr_inodes={INODES}")
        if not self._on.sized_folders and not any(word.startswith("mode=") for word in words):
            words = [f"size={UNLIMITED}" if word.startswith("size=") else word for word in words]
        return ",".join(words)

    def _order(self, job: Job) -> tuple[Any, ...]:
        argv, variables, user, profiling, _, _ = super()._order(job)
        if variables is not None and not self._on.empty_environment:
            variables = [*{**os.environ, **dict(variables)}.items()]
        return argv, variables, user, profiling, self._on.pid_namespace, self._on.fresh_folders


class WeakDocker(Docker):
    """Docker with some protections off."""

    def __init__(self, on: Protections, devices: Path = DEV) -> None:
        """Connects to the engine; see `Docker`."""
        self._on = on
        super().__init__(devices)

    @property
    def facts(self) -> Mapping[str, Any]:
        """See `whet.sandbox.protocol.Sandbox.facts`."""
        return super().facts if self._on.landlock else {**super().facts, "landlock": 0}

    def _begun(self, child: Child, job: Job) -> Session:
        return begun(LaxSession(child, job, self._on), lax_words(self._words(job), self._on))

    def _container(self, folder: Path, shape: Shape, slot: int) -> Container:
        neighbour = next((other.id for other in self._pool.alive), "")
        program, devices = self._staging.program, self._devices
        return WeakContainer(self._on, neighbour, self._engine, self._image, program, folder, shape, slot, devices)


def changed(argv: list[str], words: list[str], others: list[str]) -> list[str]:
    """Returns a command in which some words stand instead of others.

    Raises:
        ValueError: it does not have those.
    """
    for place in range(len(argv) - len(words) + 1):
        if argv[place : place + len(words)] == words:
            return [*argv[:place], *others, *argv[place + len(words) :]]
    raise ValueError(f"{' '.join(words)} is not part of {' '.join(argv)}")
