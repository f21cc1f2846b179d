"""The bubblewrap backend: privileges dropped first, an empty environment, no network, a root of its own."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from whet.core.errors import SandboxError, UsageError
from whet.sandbox.devices import gpu_nodes
from whet.sandbox.interpreter import reachable
from whet.sandbox.protocol import Job, Session
from whet.sandbox.seccomp import write_filter
from whet.sandbox.session import LocalProcess, PipeSession
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


class Bubblewrap:
    """A `Sandbox` of bubblewrap; each job gets a sandbox of its own."""

    name = "bubblewrap"

    def __init__(self) -> None:
        missing = [tool for tool in ("bwrap", "setpriv", "unshare") if shutil.which(tool) is None]
        if missing:
            raise UsageError(f"{', '.join(missing)} not found; install with: apt-get install bubblewrap util-linux")
        self._root = os.geteuid() == 0
        self._staging = Staging()
        self._filter = self._staging.folder / "filter.bpf"
        self._filtered = write_filter(self._filter)
        self._slots = itertools.count()
        self._mounts: dict[Path, Path] = {}
        self._lock = threading.Lock()
        # The kernel ends a sandbox when the thread that started it ends: one thread starts them all.
        self._spawner = ThreadPoolExecutor(1, thread_name_prefix="whet-spawner")

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
        descriptors: list[int] = []
        argv = self._entry(job, uid) + self._bwrap(job, descriptors)
        try:
            process = self._spawner.submit(self._start, argv, job.cores, tuple(descriptors)).result()
        except OSError as error:
            raise SandboxError(f"bubblewrap could not be started: {error}") from None
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
        session = PipeSession(LocalProcess(process), "/src", job.limits.output)
        session.tell(*first_words(job, job.limits.processes + 4))
        return session

    def close(self) -> None:
        """See `whet.sandbox.protocol.Sandbox.close`."""
        self._spawner.shutdown()
        self._staging.close()

    def _start(self, argv: list[str], cores: tuple[int, ...], descriptors: tuple[int, ...]) -> Any:
        before = os.sched_getaffinity(0)
        if cores:
            os.sched_setaffinity(0, cores)  # this thread's alone; the child inherits it
        try:
            return subprocess.Popen(
                argv,
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
                place = self._staging.folder / "doors" / str(len(self._mounts))
                place.mkdir(parents=True)
                self._mounts[folder] = place
            return self._mounts[folder]

    def _bwrap(self, job: Job, descriptors: list[int]) -> list[str]:
        argv = ["bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--clearenv"]
        for name, value in environment(job).items():
            argv += ["--setenv", name, value]
        argv += ["--ro-bind", "/usr", "/usr"]
        for name in SYSTEM_FOLDERS:
            link = Path("/", name)
            if link.is_symlink():
                argv += ["--symlink", f"usr/{name}", f"/{name}"]
            elif link.is_dir():
                argv += ["--ro-bind", f"/{name}", f"/{name}"]
        for name in HOST_FILES:
            argv += ["--ro-bind-try", name, name]
        argv += ["--ro-bind", str(self._staging.program), "/whet"]
        if job.tree is not None:
            argv += ["--ro-bind", str(job.tree), "/src"]
        argv += ["--proc", "/proc", "--dev", "/dev", "--size", str(SHARED_BYTES), "--tmpfs", "/dev/shm"]
        argv += ["--size", str(job.work), "--tmpfs", "/work", "--size", str(SHARED_BYTES), "--tmpfs", "/tmp"]
        for node in gpu_nodes() if job.gpu else ():
            argv += ["--dev-bind", node, node]
        # After the file systems in memory: an interpreter may live under /tmp or /work.
        for folder in job.interpreter.folders:
            source = self._door(folder) if self._root and not reachable(folder) else folder
            argv += ["--ro-bind", str(source), str(folder)]
        argv += ["--remount-ro", "/dev", "--remount-ro", "/", "--cap-drop", "ALL", "--chdir", "/work"]
        if self._filtered:
            descriptors.append(os.open(self._filter, os.O_RDONLY | os.O_CLOEXEC))
            argv += ["--seccomp", str(descriptors[-1])]
        return [*argv, "--", *boot(job.interpreter, job.program)]
