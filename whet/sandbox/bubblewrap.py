"""The bubblewrap backend: privileges dropped first, an empty environment, no network, a root of its own."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

from whet.core.errors import SandboxError, UsageError
from whet.sandbox.devices import gpu_nodes
from whet.sandbox.interpreter import reachable
from whet.sandbox.protections import ALL_ON, HIDDEN_FOLDER, Protections
from whet.sandbox.protocol import Job, Session
from whet.sandbox.seccomp import write_filter
from whet.sandbox.session import PipeSession
from whet.sandbox.staging import (
    FIRST_UID,
    HOST_FILES,
    PATH,
    SHARED_BYTES,
    SLOTS,
    SYSTEM_FOLDERS,
    Staging,
    boot,
    environment,
    first_words,
)
from whet.sandbox.watchdog import MOST_FILES, Bounds, Watchdog

WRITABLE = ("/work", "/tmp", "/dev/shm")
OWN_PROCESSES = 4  # bubblewrap's two and the program inside, and one to spare


class Bubblewrap:
    """A `Sandbox` of bubblewrap; each job gets a sandbox of its own."""

    name = "bubblewrap"

    def __init__(self, protections: Protections = ALL_ON) -> None:
        missing = [tool for tool in ("bwrap", "setpriv", "unshare") if shutil.which(tool) is None]
        if missing:
            raise UsageError(f"{', '.join(missing)} not found; install with: apt-get install bubblewrap util-linux")
        self._on = protections
        self._root = os.geteuid() == 0
        self._staging = Staging()
        self._filter = self._staging.folder / "filter.bpf"
        self._filtered = protections.seccomp and write_filter(self._filter)
        self._slots = itertools.count()
        self._mounts: dict[Path, Path] = {}
        self._lock = threading.Lock()
        # The kernel ends a sandbox when the thread that started it ends: one thread starts them all.
        self._spawner = ThreadPoolExecutor(1, thread_name_prefix="whet-spawner")
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
            "root_dropped": self._root,
        }

    def stage(self, name: str, files: Mapping[str, bytes], executable: bool = False) -> Path:
        """See `whet.sandbox.protocol.Sandbox.stage`."""
        return self._staging.stage(name, files, executable)

    def open(self, job: Job) -> Session:
        """See `whet.sandbox.protocol.Sandbox.open`."""
        self._staging.compile(job.interpreter)
        uid = FIRST_UID + next(self._slots) % SLOTS
        stdin, our_stdin = os.pipe2(os.O_CLOEXEC)
        our_stdout, stdout = os.pipe2(os.O_CLOEXEC)
        descriptors = [stdin, stdout]
        try:
            argv = self._entry(job, uid) + self._bwrap(job, descriptors)
            process = self._spawner.submit(self._start, argv, job.cores, tuple(descriptors)).result()
        except OSError as error:
            os.close(our_stdin)
            os.close(our_stdout)
            raise SandboxError(f"bubblewrap could not be started: {error}") from None
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
        process.stdin, process.stdout = os.fdopen(our_stdin, "wb", 0), os.fdopen(our_stdout, "rb", 0)
        child = self._watchdog.start(process, self._bounds(job))
        session = PipeSession(child, "/src", job.limits.output, self._on)
        processes = job.limits.processes + OWN_PROCESSES
        session.tell(*first_words(job, processes, alone=self._on.pid_namespace, protections=self._on))
        return session

    def close(self) -> None:
        """See `whet.sandbox.protocol.Sandbox.close`."""
        self._spawner.shutdown()
        self._watchdog.close()
        self._staging.close()

    def _start(self, argv: list[str], cores: tuple[int, ...], descriptors: tuple[int, ...]) -> Any:
        before = os.sched_getaffinity(0)
        if cores:
            os.sched_setaffinity(0, cores)  # this thread's alone; the child inherits it
        try:
            return subprocess.Popen(
                argv,
                # The pipes of the session are not its own: a candidate could open them at /proc/1/fd.
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                # bubblewrap's own environment is readable at /proc/1/environ.
                env={"PATH": PATH} if self._on.empty_environment else None,
                cwd="/",
                pass_fds=descriptors if self._on.closed_descriptors else (*descriptors, *_inheritable()),
                process_group=0,
            )
        finally:
            os.sched_setaffinity(0, before)

    def _entry(self, job: Job, uid: int) -> list[str]:
        """Returns what comes before bwrap: mounts that need root, then no rights any more."""
        if not self._root:
            return []
        drop = (
            []
            if not self._on.drop_privileges
            else ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", "--no-new-privs"]
        )
        hidden = [folder for folder in job.interpreter.folders if not reachable(folder)]
        if not hidden:
            return drop
        binds = " && ".join(f'mount --bind "${2 * i + 1}" "${2 * i + 2}"' for i in range(len(hidden)))
        pairs = [str(path) for folder in hidden for path in (folder, self._door(folder))]
        script = f'{binds} && shift {len(pairs)} && exec "$@"'
        return ["unshare", "--mount", "--propagation", "private", "sh", "-c", script, "sh", *pairs, *drop]

    def _door(self, folder: Path) -> Path:
        """Returns the place where a folder that only root can reach is mounted for the sandbox to see."""
        with self._lock:
            if folder not in self._mounts:
                place = self._staging.folder / "doors" / str(len(self._mounts))
                place.mkdir(parents=True)
                self._mounts[folder] = place
            return self._mounts[folder]

    def _bounds(self, job: Job) -> Bounds:
        memory = job.limits.memory if self._on.memory_limit else 0
        # A shared folder holds other people's files too.
        files = MOST_FILES if self._on.inode_limit and self._on.fresh_folders else 0
        return Bounds(memory, files, WRITABLE)

    def _bwrap(self, job: Job, descriptors: list[int]) -> list[str]:
        stdin, stdout = descriptors
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
        return [*argv, "--", *boot(job.interpreter, job.program, pipes=(stdin, stdout))]

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
            argv += ["--ro-bind" if self._on.read_only_root else "--bind", str(job.tree), "/src"]
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
