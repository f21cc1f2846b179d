"""The bubblewrap backend: privileges dropped first, an empty environment, no network, a root of its own."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from whet.core.errors import SandboxError, UsageError
from whet.core.task import MIB
from whet.sandbox import inside
from whet.sandbox.interpreter import Interpreter, reachable
from whet.sandbox.protocol import Job
from whet.sandbox.seccomp import write_filter
from whet.sandbox.session import ProcessSession

FIRST_UID = 64000  # one user a slot: RLIMIT_NPROC counts per user
SLOTS = 1000
ADDRESS_SPARE = 1024 * MIB  # mapped, not used: interpreter, libraries, thread stacks
START_SECONDS = 20.0
PATH = "/usr/local/bin:/usr/bin:/bin"
BOOT = "import sys; sys.path[0] = '/whet'; from inside.{program} import main; main()"
HOST_FILES = ("/etc/alternatives", "/etc/ld.so.cache", "/etc/localtime")


class Bubblewrap:
    """A `Sandbox` of bubblewrap; each job gets a sandbox of its own."""

    name = "bubblewrap"

    def __init__(self) -> None:
        missing = [tool for tool in ("bwrap", "setpriv", "unshare") if shutil.which(tool) is None]
        if missing:
            raise UsageError(f"{', '.join(missing)} not found; install with: apt-get install bubblewrap util-linux")
        self._root = os.geteuid() == 0
        self._folder = Path(tempfile.mkdtemp(prefix="whet-"))
        self._folder.chmod(0o711)
        self._compiled: set[Path] = set()
        install_inside(self._folder / "whet")
        self._filter = self._folder / "filter.bpf"
        self._filtered = write_filter(self._filter)
        self._slots = itertools.count()
        self._mounts: dict[Path, Path] = {}
        self._lock = threading.Lock()
        # The kernel ends a sandbox when the thread that started it ends: one thread starts them all.
        self._spawner = ThreadPoolExecutor(1, thread_name_prefix="whet-spawner")

    @property
    def facts(self) -> Mapping[str, Any]:
        """See `whet.sandbox.protocol.Sandbox.facts`."""
        return {"backend": self.name, "network": False, "seccomp": self._filtered, "root_dropped": self._root}

    def stage(self, name: str, files: Mapping[str, bytes], executable: bool = False) -> Path:
        """Writes files into a folder that a sandbox can show read-only; returns the folder."""
        return stage(self._folder / "trees", name, files, executable)

    def open(self, job: Job) -> ProcessSession:
        """See `whet.sandbox.protocol.Sandbox.open`."""
        self._compile(job.interpreter)
        uid = FIRST_UID + next(self._slots) % SLOTS
        descriptors: list[int] = []
        command = self._entry(job, uid) + self._bwrap(job, descriptors)
        try:
            process = self._spawner.submit(self._start, command, job.cores, tuple(descriptors)).result()
        except OSError as error:
            raise SandboxError(f"bubblewrap could not be started: {error}") from None
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
        session = ProcessSession(process, "/src", job.limits.output)
        session.tell("limits", *self._limits(job))
        return session

    def close(self) -> None:
        """See `whet.sandbox.protocol.Sandbox.close`."""
        self._spawner.shutdown()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _start(self, command: list[str], cores: tuple[int, ...], descriptors: tuple[int, ...]) -> Any:
        before = os.sched_getaffinity(0)
        if cores:
            os.sched_setaffinity(0, cores)  # this thread's alone; the child inherits it
        try:
            return subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={"PATH": PATH},  # bubblewrap's own environment is readable at /proc/1/environ
                cwd="/",
                pass_fds=descriptors,
                process_group=0,
            )
        finally:
            os.sched_setaffinity(0, before)

    def _compile(self, interpreter: Interpreter) -> None:
        """Saves every start of the program inside the compiling of it, once an interpreter."""
        with self._lock:
            if interpreter.executable not in self._compiled:
                self._compiled.add(interpreter.executable)
                compile_inside(self._folder / "whet", interpreter)

    def _limits(self, job: Job) -> tuple[Any, ...]:
        limits = job.limits
        kernel = (limits.memory + ADDRESS_SPARE, limits.processes + 4, limits.output)
        return ("/work", True, *kernel) if job.program == "programs" else ("/src", *kernel)

    def _entry(self, job: Job, uid: int) -> list[str]:
        """Returns what comes before bwrap: mounts that need root, then no rights any more."""
        if not self._root:
            return []
        drop = ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", "--no-new-privs"]
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
                place = self._folder / "doors" / str(len(self._mounts))
                place.mkdir(parents=True)
                self._mounts[folder] = place
            return self._mounts[folder]

    def _bwrap(self, job: Job, descriptors: list[int]) -> list[str]:
        argv = ["bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--clearenv"]
        for name, value in environment(job).items():
            argv += ["--setenv", name, value]
        argv += ["--ro-bind", "/usr", "/usr"]
        for name in ("bin", "sbin", "lib", "lib32", "lib64"):
            link = Path("/", name)
            if link.is_symlink():
                argv += ["--symlink", f"usr/{name}", f"/{name}"]
            elif link.is_dir():
                argv += ["--ro-bind", f"/{name}", f"/{name}"]
        for name in HOST_FILES:
            argv += ["--ro-bind-try", name, name]
        argv += ["--ro-bind", str(self._folder / "whet"), "/whet"]
        if job.tree is not None:
            argv += ["--ro-bind", str(job.tree), "/src"]
        argv += ["--proc", "/proc", "--dev", "/dev", "--size", str(64 * MIB), "--tmpfs", "/dev/shm"]
        argv += ["--size", str(job.work), "--tmpfs", "/work", "--size", str(64 * MIB), "--tmpfs", "/tmp"]
        # After the file systems in memory: an interpreter may live under /tmp or /work.
        for folder in job.interpreter.folders:
            source = self._door(folder) if self._root and not reachable(folder) else folder
            argv += ["--ro-bind", str(source), str(folder)]
        argv += ["--remount-ro", "/dev", "--remount-ro", "/", "--cap-drop", "ALL", "--chdir", "/work"]
        if self._filtered:
            descriptors.append(os.open(self._filter, os.O_RDONLY | os.O_CLOEXEC))
            argv += ["--seccomp", str(descriptors[-1])]
        return [
            *argv,
            "--",
            str(job.interpreter.executable),
            *python_flags(),
            BOOT.format(program=job.program),
        ]
