"""The bubblewrap backend: privileges dropped first, an empty environment, no network, a root of its own."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from whet.core.errors import SandboxError, UsageError
from whet.sandbox.control_group import find_place
from whet.sandbox.devices import gpu_nodes
from whet.sandbox.inside import landlock
from whet.sandbox.interpreter import reachable
from whet.sandbox.protections import ALL_ON, HIDDEN_FOLDER, Protections
from whet.sandbox.protocol import Job, Session
from whet.sandbox.seccomp import write_filter
from whet.sandbox.session import PipeSession
from whet.sandbox.slots import Slot, Slots
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


class Bubblewrap:
    """A `Sandbox` of bubblewrap; each job gets a sandbox of its own."""

    name = "bubblewrap"

    def __init__(self, protections: Protections = ALL_ON, control_groups: bool = True) -> None:
        """Looks for what this machine offers.

        Args:
            protections: what is on.
            control_groups: whether the kernel counts a job's memory and processes, where it lets this user say so.

        Raises:
            UsageError: a tool is missing.
        """
        missing = [tool for tool in ("bwrap", "setpriv", "unshare") if shutil.which(tool) is None]
        if missing:
            raise UsageError(f"{', '.join(missing)} not found; install with: apt-get install bubblewrap util-linux")
        self._on = protections
        self._root = os.geteuid() == 0
        self._staging = Staging()
        self._filter = self._staging.folder / "filter.bpf"
        self._filtered = protections.seccomp and write_filter(self._filter)
        self._users = Users() if self._root else None
        place = find_place() if control_groups else None
        self._control_group = 0 if place is None else place.interface.version
        self._slots = Slots(place)
        self._mounts: dict[Path, Path] = {}
        self._lock = threading.Lock()
        self._watchdog = Watchdog()

    @property
    def facts(self) -> Mapping[str, Any]:
        """See `whet.sandbox.protocol.Sandbox.facts`."""
        words = subprocess.run(["bwrap", "--version"], capture_output=True, text=True, check=False).stdout.split()
        return {
            "backend": self.name,
            "version": words[-1] if words else "",
            "network": False,
            "seccomp": self._filtered,
            "landlock": landlock.version() if self._on.landlock else 0,
            "control_group": self._control_group,
            "root_dropped": self._root,
            "first_user": os.getuid() if self._users is None else self._users.first,
        }

    def stage(self, name: str, files: Mapping[str, bytes], executable: bool = False) -> Path:
        """See `whet.sandbox.protocol.Sandbox.stage`."""
        return self._staging.stage(name, files, executable)

    def open(self, job: Job) -> Session:
        """See `whet.sandbox.protocol.Sandbox.open`."""
        self._staging.compile(job.interpreter)
        descriptors: list[int] = []
        try:
            slot = self._slot(job)
            argv = self._entry(job, slot) + self._bwrap(job, descriptors)
            process = slot.run(self._start, argv, job.cores, tuple(descriptors))
        except OSError as error:
            raise SandboxError(f"bubblewrap could not be started: {error}") from None
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
        child = self._watchdog.start(process, self._bounds(job), slot, self._slots.give)
        session = PipeSession(child, "/src", job.limits.output, self._on)
        processes = 0 if self._control_group else job.limits.processes + OWN_PROCESSES
        session.tell(*first_words(job, processes, protections=self._on, rules=access_rules(job, self._on)))
        return session

    def close(self) -> None:
        """See `whet.sandbox.protocol.Sandbox.close`."""
        self._slots.close()
        self._watchdog.close()
        if self._users is not None:
            self._users.close()
        self._staging.close()

    def _start(self, argv: list[str], cores: tuple[int, ...], descriptors: tuple[int, ...]) -> subprocess.Popen[bytes]:
        before = os.sched_getaffinity(0)
        if cores:
            os.sched_setaffinity(0, cores)  # this thread's alone; the child inherits it
        try:
            return subprocess.Popen(
                argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                # bubblewrap's own environment is readable at /proc/1/environ.
                env={"PATH": PATH} if self._on.empty_environment else None,
                cwd="/",
                pass_fds=descriptors if self._on.closed_descriptors else (*descriptors, *_inheritable()),
                process_group=0,
            )
        finally:
            os.sched_setaffinity(0, before)

    def _slot(self, job: Job) -> Slot:
        slot = self._slots.take()
        if slot.group is not None:
            memory = job.limits.memory if self._on.memory_limit else 0
            slot.group.begin(memory, job.limits.processes + OWN_PROCESSES if self._on.process_limit else 0)
        return slot

    def _entry(self, job: Job, slot: Slot) -> list[str]:
        """Returns what comes before bwrap: a control group, mounts that need root, then no rights any more."""
        hidden = [folder for folder in job.interpreter.folders if self._root and not reachable(folder)]
        steps = [f"echo 0 > {shlex.quote(door)}" for door in (slot.group.doors if slot.group is not None else ())]
        steps += [f"mount --bind {shlex.quote(str(folder))} {shlex.quote(str(self._door(folder)))}" for folder in hidden]
        drop = []
        if self._users is not None and self._on.drop_privileges:
            uid = self._users.take()
            drop = ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", "--no-new-privs"]
        if not steps:
            return drop
        script = " && ".join((*steps, 'exec "$@"'))
        private = ["unshare", "--mount", "--propagation", "private"] if hidden else []
        return [*private, "sh", "-c", script, "sh", *drop]

    def _door(self, folder: Path) -> Path:
        """Returns the place where a folder that only root can reach is mounted for the sandbox to see."""
        with self._lock:
            if folder not in self._mounts:
                place = self._staging.folder / "doors" / str(len(self._mounts))
                place.mkdir(parents=True)
                self._mounts[folder] = place
            return self._mounts[folder]

    def _bounds(self, job: Job) -> Bounds:
        memory = job.limits.memory if self._on.memory_limit and not self._control_group else 0
        # A shared folder holds other people's files too.
        files = MOST_FILES if self._on.inode_limit and self._on.fresh_folders else 0
        return Bounds(memory, files, WRITABLE)

    def _bwrap(self, job: Job, descriptors: list[int]) -> list[str]:
        argv = ["bwrap", *self._namespaces(), "--die-with-parent", "--new-session"]
        argv += ["--clearenv"] if self._on.empty_environment else []
        for name, value in environment(job).items():
            argv += ["--setenv", name, value]
        argv += [*self._system(), *self._own(job)]
        for node in gpu_nodes() if job.gpu else ():
            argv += ["--dev-bind", node, node]
        # After the file systems in memory: an interpreter may live under /tmp or /work.
        for folder in job.interpreter.folders:
            source = self._door(folder) if self._root and not reachable(folder) else folder
            argv += ["--ro-bind", str(source), str(folder)]
        sealed = {"/dev": self._on.own_devices, "/": self._on.read_only_root}
        for place in (place for place, on in sealed.items() if on):
            argv += ["--remount-ro", place]
        argv += ["--cap-drop" if self._on.capabilities else "--cap-add", "ALL", "--chdir", "/work"]
        if self._filtered:
            descriptors.append(os.open(self._filter, os.O_RDONLY | os.O_CLOEXEC))
            argv += ["--seccomp", str(descriptors[-1])]
        return [*argv, "--", *boot(job.interpreter, job.program)]

    def _namespaces(self) -> list[str]:
        kinds = {"pid": self._on.pid_namespace, "net": self._on.network, "ipc": self._on.ipc_namespace}
        always = ("user", "uts", "cgroup-try")
        return [f"--unshare-{kind}" for kind in (*always, *(kind for kind, own in kinds.items() if own))]

    def _system(self) -> list[str]:
        """Returns what shows the host's files."""
        argv = ["--ro-bind", "/usr", "/usr"]
        for name in SYSTEM_FOLDERS:
            link = Path("/", name)
            if link.is_symlink():
                argv += ["--symlink", f"usr/{name}", f"/{name}"]
            elif link.is_dir():
                argv += ["--ro-bind", f"/{name}", f"/{name}"]
        for name in (*HOST_FILES, *(() if self._on.hidden_host_files else (HIDDEN_FOLDER,))):
            argv += ["--ro-bind-try", name, name]
        return argv

    def _own(self, job: Job) -> list[str]:
        """Returns what makes the folders that are the job's own."""
        argv = ["--ro-bind", str(self._staging.program), "/whet"]
        if job.tree is not None:
            argv += ["--ro-bind", str(job.tree), "/src"]
        argv += ["--proc", "/proc", *(("--dev",) if self._on.own_devices else ("--dev-bind", "/dev")), "/dev"]
        for folder, size in zip(WRITABLE, (job.work, SHARED_BYTES, SHARED_BYTES), strict=True):
            argv += [*(("--size", str(size)) if self._on.sized_folders else ()), "--tmpfs", folder]
        if not self._on.fresh_folders:
            shared = self._staging.folder / "shared"
            shared.mkdir(exist_ok=True)
            shared.chmod(0o777)
            argv += ["--bind", str(shared), "/tmp"]
        return argv


def _inheritable() -> list[int]:
    """Returns the descriptors, of files that are not the standard ones, that a child would get."""
    found = []
    for name in os.listdir("/proc/self/fd"):
        with suppress(OSError):  # the one of this list itself
            if int(name) > 2 and os.get_inheritable(int(name)):
                found.append(int(name))
    return found
