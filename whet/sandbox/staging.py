"""What every backend puts before a process: our program inside, its environment, the tree of its job."""

from __future__ import annotations

import compileall
import fcntl
import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from whet.core.task import MIB
from whet.sandbox import inside
from whet.sandbox.devices import DEV, gpu_nodes
from whet.sandbox.interpreter import Interpreter
from whet.sandbox.protocol import NO_LINKS, Job

FIRST_UID = 64000  # candidates are users of their own, one a slot
SLOTS = 1000
"""Users of candidates, numbered from `FIRST_UID` on. More than 1534 would reach nobody (65534); with fewer, a machine
has room for fewer jobs and whet processes at once whose candidates have users of their own."""
ADDRESS_SPARE = 1024 * MIB  # mapped, not used: interpreter, libraries, thread stacks
PREFIX = "whet-sandbox-"
SHARED_BYTES = 64 * MIB  # of /tmp and of /dev/shm, each
SYSTEM_FOLDERS = ("bin", "sbin", "lib", "lib32", "lib64")  # links into /usr, or folders, as the host has them
WRITABLE = ("/work", "/tmp", "/dev/shm")
HARMLESS = ("/dev/mqueue", "/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/ptmx", "/dev/pts")
"""Where nothing that is written reaches anybody else."""
CUDA_WRITES = "/proc"
"""Where CUDA's driver names the threads that it starts (``/proc/PID/task/TID/comm``); where it may not, `cuInit` gives
error 304. The kernel takes no rule for the folders of processes that are yet to come. What lies there is of the job's
own namespace of processes, and what else can be written there is root's."""
READABLE = (*(f"/{name}" for name in SYSTEM_FOLDERS), "/usr", "/etc", "/src", "/whet", "/proc", "/sys", "/dev")
HOST_FILES = (
    *("/etc/alternatives", "/etc/ld.so.cache", "/etc/localtime"),
    # Debian keeps there what a Java machine needs to start.
    *sorted(map(str, Path("/etc").glob("java-*-openjdk"))),
)
LAUNCHERS = ("programs", "count_instructions")
PATH = "/usr/local/bin:/usr/bin:/bin"
USER = "whet"
"""What programs inside are told that their user is called: torch's compiler asks (for the folder of its cache), and the
user of a sandbox is on no list of users."""
PIPES = "import os; os.dup2({0}, 0); os.dup2({1}, 1); os.close({0}); os.close({1}); "
BOOT = "import sys; sys.path[0] = {folder!r}; from inside.{program} import main; main()"


class Staging:
    """The folder on the host from which the sandboxes of one backend are furnished.

    Those of whet processes that are gone are removed first.

    Attributes:
        folder: its path; nobody else can guess it or list what is in it.
        program: the part of it that holds the program inside.
    """

    def __init__(self) -> None:
        _remove_stale(Path(tempfile.gettempdir()))
        self.folder, self._held = _held_folder()
        self.folder.chmod(0o711)
        self.program = self.folder / "whet"
        being_written = shutil.ignore_patterns("*.pyc.*")  # bytecode, by another process
        shutil.copytree(Path(inside.__file__).parent, self.program / "inside", ignore=being_written)
        self.program.chmod(0o755)
        self._compiled: set[Path] = set()
        self._lock = threading.Lock()

    def compile(self, interpreter: Interpreter) -> None:
        """Saves every start of the program inside the compiling of it, once an interpreter.

        What whet's own interpreter has compiled already was copied with the sources, and is looked at only.
        """
        with self._lock:
            if interpreter.executable in self._compiled:
                return
            self._compiled.add(interpreter.executable)
            if interpreter.is_own:
                compileall.compile_dir(self.program, quiet=2)  # stdout is for results
                for path in self.program.rglob("*"):  # whatever the umask
                    path.chmod(0o755 if path.is_dir() else 0o644)
            else:
                compiler = (interpreter.executable, "-s", "-m", "compileall", "-q")
                subprocess.run([*compiler, self.program], check=True, cwd="/", umask=0o022)

    def stage(
        self, name: str, files: Mapping[str, bytes], executable: bool = False, links: Mapping[str, str] = NO_LINKS
    ) -> Path:
        """See `whet.sandbox.protocol.Sandbox.stage`.

        Raises:
            ValueError: a file's path leads out of the folder.
        """
        return write_tree(self.folder / "trees", name, files, executable, links)

    def close(self) -> None:
        """Removes the folder."""
        shutil.rmtree(self.folder, ignore_errors=True)
        os.close(self._held)


def _held_folder() -> tuple[Path, int]:
    """Returns a new folder, and a descriptor that holds a lock on it while its owner lives."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX))
        with suppress(FileNotFoundError):  # another whet may sweep it away before it is locked
            held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
            fcntl.flock(held, fcntl.LOCK_EX)
            if folder.exists():
                return folder, held
            os.close(held)


def _remove_stale(parent: Path) -> None:
    """Removes the folders of this user that nobody holds any more."""
    for folder in parent.glob(f"{PREFIX}*"):
        try:
            held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:  # somebody else's, a link, or gone meanwhile
            continue
        with suppress(BlockingIOError):
            if os.fstat(held).st_uid == os.geteuid():
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
        os.close(held)


def write_tree(
    parent: Path, name: str, files: Mapping[str, bytes], executable: bool, links: Mapping[str, str] = NO_LINKS
) -> Path:
    """Writes files and links under ``parent/name``, readable by all; returns that folder.

    Raises:
        ValueError: a file's path leads out of the folder.
    """
    folder = parent / name
    for path, data in files.items():
        place = _place(folder, path)
        place.write_bytes(data)
        place.chmod(0o755 if executable else 0o644)
    for path, target in links.items():
        place = _place(folder, path)
        if not place.is_symlink():
            place.symlink_to(target)
    for made in (folder, *folder.rglob("*")):
        if made.is_dir() and not made.is_symlink():
            made.chmod(0o755)
    parent.chmod(0o755)
    return folder


def _place(folder: Path, path: str) -> Path:
    place = folder / path
    if not Path(os.path.normpath(place)).is_relative_to(folder):
        raise ValueError(f"{path} leads out of the folder")
    place.parent.mkdir(parents=True, exist_ok=True)
    return place


def boot(
    interpreter: Interpreter,
    program: str,
    folder: str = "/whet",
    pipes: tuple[int, int] | None = None,
    packages: bool = True,
) -> list[str]:
    """Returns the command that starts one of our programs.

    Args:
        interpreter: runs it.
        program: its name.
        folder: where it sees our programs.
        pipes: descriptors that become its stdin and stdout, where these are something else.
        packages: see `Job`.
    """
    code = (PIPES.format(*pipes) if pipes else "") + BOOT.format(folder=folder, program=program)
    # No user site, no bytecode files, code on the command line.
    return [str(interpreter.executable), "-s", "-B", *(() if packages else ("-S",)), "-c", code]


def environment(job: Job) -> dict[str, str]:
    """Returns the whole environment of a job."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
    fixed = {
        "PATH": PATH,
        "HOME": "/work",
        "TMPDIR": "/tmp",
        "LANG": "C.UTF-8",
        "USER": USER,
        "PYTHONHASHSEED": str(job.hash_seed),
    }
    return fixed | dict.fromkeys(names, str(job.threads))


def first_words(
    job: Job,
    processes: int,
    tree: str = "/src",
    work: str = "/work",
    alone: bool = True,
    rules: Sequence[list[str]] = (),
) -> list[Any]:
    """Returns the first message to the program of a job: where it is, and the limits that the kernel keeps for it.

    Args:
        job: the job.
        processes: processes and threads that its user may have; 0 where something else counts them.
        tree: where it sees its tree.
        work: where it may write.
        alone: whether nobody else's processes are within its reach.
        rules: what `whet.sandbox.inside.landlock.restrict` leaves to foreign code; empty is no such rules.
    """
    # CUDA reserves address space beyond all bounds.
    memory = 0 if job.gpu or job.reserves else job.limits.memory + ADDRESS_SPARE
    place = [work, alone, tree if job.within else work] if job.program in LAUNCHERS else [tree]
    return ["limits", *place, memory, processes, job.limits.output, list(rules)]


def access_rules(job: Job, devices: Path = DEV, readable: Sequence[str] = READABLE) -> list[list[str]]:
    """Returns what foreign code of a job may read, where it may write and by what it may speak with itself.

    Args:
        job: the job.
        devices: host folder of the GPUs' nodes.
        readable: what its sandbox shows, but for the interpreter's folders.
    """
    writable = (*WRITABLE, *HARMLESS, *((*gpu_nodes(devices).values(), CUDA_WRITES) if job.gpu else ()))
    return [[*readable, *map(str, job.interpreter.folders)], list(writable), ["tcp"] if job.loopback else []]
