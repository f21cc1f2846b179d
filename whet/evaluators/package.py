"""The package that a target belongs to, whole: data files, compiled modules, what is imported by made-up names.

A target's processes see it read-only: their tree holds a candidate's own files, and links to the rest. What is
installed in the interpreter's environment is linked to where it lies; of a source tree a copy is staged, once.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from pathlib import Path
from threading import Lock
from weakref import WeakKeyDictionary

from whet.core.errors import UsageError
from whet.core.task import MIB, Package, Task
from whet.evaluators.project import ANSWERS, BEST, SECRETS
from whet.evaluators.task_file import FILENAME
from whet.sandbox.interpreter import Interpreter
from whet.sandbox.protocol import Sandbox

MOST_BYTES, MOST_FILES = 128 * MIB, 4_000
"""Of a copy, which lies on the disk once a run; an installed package is not copied, however large."""
INSTALLED = frozenset({"site-packages", "dist-packages"})
HIDDEN_FOLDERS = frozenset({"tests", "test", "node_modules"})
HIDDEN_FILES = ("test_*.py", "*_test.py", "conftest.py")
"""They hold expected values, so no candidate may see them."""
STUBS = (".pyi", ".typed")
COMPILED = (".so", ".pyd")
CACHE = "__pycache__"


def installed(path: Path, interpreter: Interpreter) -> bool:
    """Whether a file is one of a package that is installed where an interpreter finds it."""
    seen = (*interpreter.folders, Path("/usr"))
    return bool(INSTALLED & set(path.parts)) and any(path.is_relative_to(folder) for folder in seen)


def find_package(
    path: Path, root: Path, interpreter: Interpreter, texts: Collection[str], complete: bool, hidden: Collection[Path]
) -> Package | None:
    """Returns the package of a target; None where it is in none, or where the texts are all that it could need.

    Args:
        path: of the target.
        root: the folder that it is imported from.
        interpreter: that it runs on.
        texts: paths under the root of the modules and data that are known to be needed.
        complete: whether those are all of its modules that it imports.
        hidden: files that no candidate may see.

    Raises:
        UsageError: it is too large to be copied.
    """
    if not (path.parent / "__init__.py").is_file():
        return None
    target = path.relative_to(root)
    name = target.parts[0]
    if installed(path, interpreter):
        return counted(Package(root, name, target.as_posix(), installed=True))
    found = Package(root, name, target.as_posix(), tuple(sorted(texts)), tuple(sorted(map(str, hidden))))
    files = dict(_files(found))
    unread = (file for file in files if file not in texts and not file.endswith((".py", *STUBS)))
    if complete and next(unread, None) is None and not _compiled(found, interpreter):
        return None
    return counted(found)


def counted(package: Package) -> Package:
    """Returns a package with the number, the bytes and the hash of its files; of an installed one, of its sources."""
    files = dict(_files(package))
    return replace(package, files=len(files), bytes=sum(files.values()), sha256=_digest(package, files))


def described(package: Package) -> str:
    """Returns in a line what is seen of a package, and where it lies."""
    if package.installed:
        return f"package {package.name}: seen as it is installed in {package.root}"
    size = f"{package.bytes / MIB:.1f} of at most {MOST_BYTES // MIB} MiB"
    return f"package {package.name}: a read-only copy of {package.files} files, {size}, is seen"


def package_files(package: Package) -> dict[str, bytes]:
    """Reads the files of a package in a source tree, but for the target: path under its root -> bytes.

    Raises:
        UsageError: they are not what they were when the run began.
    """
    files = dict(_files(package))
    if _digest(package, files) != package.sha256:
        raise UsageError(
            f"files of {package.root / package.name} are not as they were when the run began; begin a new one"
        )
    return {name: _read(package.root / name) for name in files}


def _files(package: Package) -> Iterator[tuple[str, int]]:
    """Yields the path and the size of each file that candidates may see; links are left out, whatever they lead to."""
    count = total = 0
    for where, folders, names in os.walk(package.root / package.name):
        here = Path(where)
        folders[:] = sorted(name for name in folders if _open_folder(here / name, FILENAME in names))
        for name in sorted(names):
            path = here / name
            short = path.relative_to(package.root).as_posix()
            status = path.lstat()
            if not stat.S_ISREG(status.st_mode) or short == package.target or str(path) in package.hidden:
                continue
            if package.installed and path.suffix != ".py":
                continue
            if short not in package.needed and hidden_file(path, FILENAME in names):
                continue
            count += 1
            total += status.st_size
            if not package.installed and (count > MOST_FILES or total > MOST_BYTES):
                raise UsageError(
                    f"{package.root / package.name} holds more than {MOST_FILES} files or {MOST_BYTES // MIB} MiB, all "
                    "of which each candidate would see; install it, and name the installed file as the target"
                )
            yield short, status.st_size


def _open_folder(folder: Path, of_task: bool) -> bool:
    name = folder.name
    closed = name in HIDDEN_FOLDERS or name == CACHE or name.startswith(".") or (of_task and name == ANSWERS)
    return not closed and not (folder / "pyvenv.cfg").exists()


def hidden_file(path: Path, of_task: bool) -> bool:
    """Whether a file tells of the oracle or holds keys, by its name, and whether it lies beside a ``whet.toml``."""
    name = path.name
    if name.startswith(".") or name == FILENAME or SECRETS.fullmatch(name) or (of_task and path.stem == BEST):
        return True
    return any(fnmatch(name, pattern) for pattern in HIDDEN_FILES)


def _digest(package: Package, files: Collection[str]) -> str:
    found = hashlib.sha256()
    for name in files:
        found.update(f"{name}\0{hashlib.sha256(_read(package.root / name)).hexdigest()}\n".encode())
    return found.hexdigest()


def _read(path: Path) -> bytes:
    """Reads a file that was no link a moment ago."""
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK), "rb") as file:
        return file.read()


def _compiled(package: Package, interpreter: Interpreter) -> dict[str, Path]:
    """Returns the compiled modules that a source tree lacks and its environment has: path under the root -> file."""
    found: dict[str, Path] = {}
    for site in site_packages(interpreter):
        for where, _, names in os.walk(site / package.name):
            for name in names:
                file = Path(where, name)
                short = file.relative_to(site).as_posix()
                if name.endswith(COMPILED) and not (package.root / short).exists():
                    found.setdefault(short, file)
    return found


def site_packages(interpreter: Interpreter) -> list[Path]:
    """Returns the folders where an interpreter's environment has its packages."""
    major, minor, *_ = interpreter.version.split(".")
    library = interpreter.executable.parent.parent / "lib"
    folders = [library / f"python{major}.{minor}" / "site-packages"]
    return [folder for folder in folders if folder.is_dir()]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where a package lies that the processes of a task see, and how their trees link to it.

    Attributes:
        interpreter: theirs, with the folder of the package among those that a sandbox shows.
        links: path in a tree -> where it leads; none where the task has no package.
    """

    interpreter: Interpreter
    links: dict[str, str]

    @classmethod
    def of(cls, task: Task, sandbox: Sandbox, interpreter: Interpreter) -> Surroundings:
        """Stages the package of a task where it is no installed one.

        Raises:
            UsageError: it is not there, or not as it was when the run began.
        """
        package = task.package
        if package is None:
            return cls(interpreter, {})
        own = {task.filename, *task.others}
        if package.installed:
            if not (package.root / package.name).is_dir():
                raise UsageError(f"there is no package {package.root / package.name}; install {package.name} there")
            names = [package.name, *(name for name in (f"{package.name}.libs",) if (package.root / name).is_dir())]
            return cls(interpreter, dict(_links(package.root, names, own)))
        folder = _copy(package, sandbox)
        links = dict(_links(folder, [package.name], own | set(_compiled(package, interpreter))))
        links |= {short: str(file) for short, file in _compiled(package, interpreter).items()}
        folders = tuple(dict.fromkeys((*interpreter.folders, folder)))
        return cls(replace(interpreter, folders=folders), links)


_copies: WeakKeyDictionary[Sandbox, dict[str, Path]] = WeakKeyDictionary()
_lock = Lock()


def _copy(package: Package, sandbox: Sandbox) -> Path:
    with _lock:
        known = _copies.setdefault(sandbox, {})
        if package.sha256 not in known:
            files = package_files(package)
            folder = sandbox.stage(f"package-{package.sha256}", files | _caches(package, files))
            for name in files:
                # A compiled file is for a source of one size and time.
                with suppress(OSError):
                    status = (package.root / name).lstat()
                    os.utime(folder / name, ns=(status.st_atime_ns, status.st_mtime_ns))
            known[package.sha256] = folder
        return known[package.sha256]


def _caches(package: Package, files: Collection[str]) -> dict[str, bytes]:
    """Returns what is compiled of some modules already: each start of a process would compile them anew."""
    found = {}
    for name in files:
        path = package.root / name
        if path.suffix == ".py":
            for cached in (path.parent / CACHE).glob(f"{path.stem}.*.pyc"):
                with suppress(OSError):
                    found[cached.relative_to(package.root).as_posix()] = _read(cached)
    return found


def _links(folder: Path, names: Collection[str], own: Collection[str], below: str = "") -> Iterator[tuple[str, str]]:
    """Yields what makes a tree complete that has some files of its own.

    Args:
        folder: of what is linked to.
        names: of its files and folders.
        own: paths that the tree itself has.
        below: path of the folder in the tree, with a slash at its end.
    """
    for name in names:
        path = f"{below}{name}"
        inner = [other for other in own if other.startswith(f"{path}/")]
        cached = name == CACHE and any(other.rpartition("/")[0] == below.rstrip("/") for other in own)
        if inner or cached:
            inside = sorted(entry.name for entry in (folder / name).iterdir())
            yield from _links(folder / name, inside, own, f"{path}/")
        elif path not in own and not _stale(path, own):
            yield path, str(folder / name)


def _stale(path: str, own: Collection[str]) -> bool:
    """Whether a file holds what was compiled of a module in whose place the tree has one of its own."""
    above, _, name = path.rpartition("/")
    if above.rpartition("/")[2] != CACHE:
        return False
    return f"{above.removesuffix(CACHE)}{name.partition('.')[0]}.py" in own
