"""The bubblewrap backend: privileges dropped first, an empty environment, no network, a root of its own."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from whet.core.errors import SandboxError, UsageError
from whet.sandbox.control_group import find_place
from whet.sandbox.devices import DEV, gpu_nodes
from whet.sandbox.fork_server import ForkServer
from whet.sandbox.inside import kernel, landlock
from whet.sandbox.inside.forking import TREE
from whet.sandbox.interpreter import reachable
from whet.sandbox.job_server import FORKABLE, Unfit, begun
from whet.sandbox.pool import Pool
from whet.sandbox.protocol import NO_LINKS, Job, Session
from whet.sandbox.seccomp import write_filter
from whet.sandbox.session import Child, PipeSession
from whet.sandbox.slots import Slot, Slots
from whet.sandbox.spawner import Spawner
from whet.sandbox.staging import (
    HOST_FILES,
    PATH,
    SHARED_BYTES,
    SYSTEM_FOLDERS,
    WRITABLE,
    Staging,
    access_rules,
    boot,
    environment,
    first_words,
)
from whet.sandbox.users import Users
from whet.sandbox.watchdog import MOST_FILES, Bounds, Watchdog

OWN_PROCESSES = 4  # bubblewrap's two and the program inside, and one to spare
FORKING_RIGHTS = ("CAP_SYS_ADMIN", "CAP_SETPCAP")  # to make namespaces and mounts, and to give up both
NAMESPACES = ("user", "uts", "cgroup-try", "pid", "net", "ipc")
FORKS_PROCESSES = 3  # the worker, and two between it and the program


class Bubblewrap:
    """A `Sandbox` of bubblewrap; each job gets a sandbox of its own."""

    name = "bubblewrap"

    def __init__(self, devices: Path = DEV, control_groups: bool = True) -> None:
        """Looks for what this machine offers.

        Args:
            devices: host folder of the GPUs' nodes.
            control_groups: whether the kernel counts a job's memory and processes, where it lets this user say so.

        Raises:
            UsageError: a tool is missing.
        """
        missing = [tool for tool in ("bwrap", "setpriv") if shutil.which(tool) is None]
        if missing:
            raise UsageError(f"{', '.join(missing)} not found; install with: apt-get install bubblewrap util-linux")
        self._devices = devices
        self._root = os.geteuid() == 0
        self._staging = Staging()
        self._filters = {kind: self._staging.folder / f"filter-{kind}.bpf" for kind in (False, True)}
        self._filtered = all(write_filter(path, kind) for kind, path in self._filters.items())
        self._users = Users() if self._root else None
        place = find_place() if control_groups else None
        self._control_group = 0 if place is None else place.interface.version
        self._slots = Slots(place, self._staging.folder / "views")
        self._watchdog = Watchdog()
        self._pool = Pool(_shape, self._fork_server, ForkServer.remove)

    @property
    def facts(self) -> Mapping[str, Any]:
        """See `whet.sandbox.protocol.Sandbox.facts`."""
        words = subprocess.run(["bwrap", "--version"], capture_output=True, text=True, check=False).stdout.split()
        return {
            "backend": self.name,
            "version": words[-1] if words else "",
            "network": False,
            "seccomp": self._filtered,
            "landlock": landlock.version(),
            "control_group": self._control_group,
            "root_dropped": self._root,
            "first_user": os.getuid() if self._users is None else self._users.first,
        }

    def stage(
        self, name: str, files: Mapping[str, bytes], executable: bool = False, links: Mapping[str, str] = NO_LINKS
    ) -> Path:
        """See `whet.sandbox.protocol.Sandbox.stage`."""
        return self._staging.stage(name, files, executable, links)

    def open(self, job: Job) -> Session:
        """See `whet.sandbox.protocol.Sandbox.open`."""
        self._staging.compile(job.interpreter)
        if job.preload is not None:
            with suppress(Unfit):
                return self._begun(self._pool.start(job), job, OWN_PROCESSES + FORKS_PROCESSES)
        try:
            return self._begun(self._started(job), job, OWN_PROCESSES)
        except OSError as error:
            raise SandboxError(f"a sandbox could not be started: {error}") from None

    def close(self) -> None:
        """See `whet.sandbox.protocol.Sandbox.close`."""
        self._pool.close()
        self._slots.close()
        self._watchdog.close()
        if self._users is not None:
            self._users.close()
        self._staging.close()

    def _started(self, job: Job) -> Child:
        """Starts a job in a sandbox of its own; of a start that fails nothing is left."""
        with ExitStack() as undoing, ExitStack() as passed:
            slot = self._slot(job, OWN_PROCESSES)
            undoing.callback(self._give, slot)
            inherited: list[int] = []
            passed.callback(_close_all, inherited)
            stdin, our_stdin = os.pipe2(os.O_CLOEXEC)
            inherited.append(stdin)
            undoing.callback(os.close, our_stdin)
            our_stdout, stdout = os.pipe2(os.O_CLOEXEC)
            inherited.append(stdout)
            undoing.callback(os.close, our_stdout)
            argv = [*self._entry(slot), *self._bwrap(job, slot.spawner, inherited)]
            # The pipes are not bubblewrap's own stdin and stdout: a candidate could open those at /proc/1/fd.
            argv += boot(job.interpreter, job.program, pipes=(stdin, stdout), packages=job.packages)
            process = self._spawn(slot, argv, job, tuple(inherited))
            undoing.pop_all()
        process.stdin, process.stdout = os.fdopen(our_stdin, "wb", 0), os.fdopen(our_stdout, "rb", 0)
        return self._watchdog.start(process, self._bounds(job), slot, self._give)

    def _begun(self, child: Child, job: Job, own: int) -> Session:
        """Returns the talk with a job's process, beside which there are some others."""
        return begun(PipeSession(child, TREE, job.limits.output), self._words(job, own))

    def _words(self, job: Job, own: int) -> list[Any]:
        """Returns the first message to a job; where there is a control group, that counts its processes."""
        processes = 0 if self._control_group else job.limits.processes + own
        return first_words(job, processes, rules=access_rules(job, self._devices))

    def _fork_server(self, job: Job) -> ForkServer:
        job = replace(job, tree=None)  # each fork gets one of its own; this one's may be removed before the worker
        slot = self._slot(job, OWN_PROCESSES + FORKS_PROCESSES)
        with ExitStack() as undoing:
            undoing.callback(self._give, slot)
            argv = [*self._entry(slot), *self._bwrap(job, slot.spawner), *boot(job.interpreter, "forkserver")]
            argv += [*FORKABLE, *(job.preload or ())]
            start, rules = partial(self._spawn, slot, argv, job, ()), self._rules(job)
            undoing.pop_all()  # the worker gives it back, whatever becomes of it
        return ForkServer(start, rules, self._watchdog, self._bounds(job), slot, self._give)

    def _spawn(
        self, slot: Slot, argv: list[str], job: Job, descriptors: tuple[int, ...], stdin: int = subprocess.DEVNULL
    ) -> subprocess.Popen[bytes]:
        # bubblewrap's own environment is readable at /proc/1/environ.
        return slot.spawner.start(argv, job.cores, {"PATH": PATH}, descriptors, stdin)

    def _slot(self, job: Job, own: int) -> Slot:
        """Returns a slot with the bounds of a job.

        Args:
            job: the job.
            own: processes that are there besides its own.

        Raises:
            SandboxError: there can be none.
        """
        try:
            slot = self._slots.take()
        except OSError as error:
            raise SandboxError(f"a control group could not be made: {error}") from None
        with ExitStack() as undoing:
            undoing.callback(self._give, slot)
            self._prepare(slot, job, own)
            undoing.pop_all()
        return slot

    def _prepare(self, slot: Slot, job: Job, own: int) -> None:
        """Gives a slot the bounds of a job, and a user that no other job has."""
        try:
            if slot.group is not None:
                slot.group.begin(*self._most(job, own))
        except OSError as error:
            raise SandboxError(f"a control group could not be made: {error}") from None
        if self._users is not None:
            slot.user = self._users.take()

    def _most(self, job: Job, own: int) -> tuple[int, int]:
        """Returns the bytes and the processes that a control group allows; 0 is no bound."""
        return job.limits.memory, job.limits.processes + own

    def _give(self, slot: Slot) -> None:
        """Takes back a slot, and its user, whose job has been killed or has never begun."""
        if self._users is not None and slot.user is not None:
            self._users.give(slot.user)
            slot.user = None
        self._slots.give(slot)

    def _entry(self, slot: Slot) -> list[str]:
        """Returns what comes before bwrap: a control group, then no rights any more."""
        drop: list[str] = []
        if slot.user is not None:
            drop = ["setpriv", f"--reuid={slot.user}", f"--regid={slot.user}", "--clear-groups", "--no-new-privs"]
        files = slot.group.procs_files if slot.group is not None else ()
        if not files:
            return drop
        steps = " && ".join((*(f"echo 0 > {shlex.quote(file)}" for file in files), 'exec "$@"'))
        return ["sh", "-c", steps, "sh", *drop]

    def _rules(self, job: Job) -> tuple[Any, ...]:
        """Returns what a warm worker keeps a job in by; see `whet.sandbox.inside.forkserver.Rules`."""
        folders = [(folder, f"mode=0755,size={size}") for folder, size in self._writable(job).items()]
        kept = [str(f) for f in job.interpreter.folders if any(f.is_relative_to(place) for place in WRITABLE)]
        calls = self._filters[job.profiling].read_bytes() if self._filtered else b""
        no_rights = True
        return kernel.CLONE_NEWPID | kernel.CLONE_NEWIPC, folders, kept, no_rights, calls

    def _bounds(self, job: Job) -> Bounds:
        return Bounds(0 if self._control_group else job.limits.memory, MOST_FILES, WRITABLE)

    def _bwrap(self, job: Job, spawner: Spawner, descriptors: list[int] | None = None) -> list[str]:
        """Returns the command of a sandbox.

        Args:
            job: that is to run in it.
            spawner: that is to start it.
            descriptors: gets those that it must inherit. None is for a warm worker: it keeps some rights within the
                sandbox, and is not filtered; it sees to both for each of its forks.
        """
        argv = ["bwrap", *(f"--unshare-{kind}" for kind in NAMESPACES), "--die-with-parent", "--new-session"]
        argv += ["--clearenv"]
        for name, value in environment(job).items():
            argv += ["--setenv", name, value]
        argv += [*self._system(), *self._own(job)]
        for node, place in gpu_nodes(self._devices).items() if job.gpu else ():
            argv += ["--dev-bind", node, place]
        # After the file systems in memory: an interpreter may live under /tmp or /work.
        for folder in job.interpreter.folders:
            source = spawner.show(folder) if self._root and not reachable(folder) else folder
            argv += ["--ro-bind", str(source), str(folder)]
        argv += ["--remount-ro", "/dev", "--remount-ro", "/"]
        argv += ["--cap-drop", "ALL", "--chdir", "/work"]
        for right in FORKING_RIGHTS if descriptors is None else ():
            argv += ["--cap-add", right]
        if self._filtered and descriptors is not None:
            descriptors.append(os.open(self._filters[job.profiling], os.O_RDONLY | os.O_CLOEXEC))
            argv += ["--seccomp", str(descriptors[-1])]
        return [*argv, "--"]

    def _writable(self, job: Job) -> dict[str, int]:
        """Returns the folders in memory and their bytes."""
        return dict(zip(WRITABLE, (job.work, SHARED_BYTES, SHARED_BYTES), strict=True))

    def _system(self) -> list[str]:
        """Returns what shows the host's files."""
        argv = ["--ro-bind", "/usr", "/usr"]
        for name in SYSTEM_FOLDERS:
            link = Path("/", name)
            if link.is_symlink():
                argv += ["--symlink", f"usr/{name}", f"/{name}"]
            elif link.is_dir():
                argv += ["--ro-bind", f"/{name}", f"/{name}"]
        for name in HOST_FILES:
            argv += ["--ro-bind-try", name, name]
        return argv

    def _own(self, job: Job) -> list[str]:
        """Returns what makes the folders that are the job's own."""
        argv = ["--ro-bind", str(self._staging.program), "/whet"]
        argv += ["--ro-bind", str(job.tree), TREE] if job.tree is not None else ["--dir", TREE]
        argv += ["--proc", "/proc", "--dev", "/dev"]
        for folder, size in self._writable(job).items():
            argv += ["--size", str(size), "--tmpfs", folder]
        return argv


def _close_all(descriptors: Sequence[int]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)


def _shape(job: Job) -> Job:
    """Returns what jobs have in common that one warm worker can start."""
    return replace(job, program="", tree=None)
