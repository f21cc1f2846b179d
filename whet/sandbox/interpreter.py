"""A python3 for candidates, and the folders that it needs to be seen from inside a sandbox."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from whet.core.errors import UsageError

ASK = (
    "import json, sys, sysconfig; print(json.dumps([sys.executable, list(sys.version_info[:3]), "
    "[sys.prefix, sys.base_prefix, sys.exec_prefix, sysconfig.get_path('stdlib')]]))"
)
OLDEST = (3, 10)
"""Oldest Python version for candidates, which the message below names too: the programs in `inside` use
``zip(strict=...)``, new in 3.10. A later one refuses more interpreters; with an earlier one these programs fail."""


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A python3 of the host.

    Attributes:
        executable: its path.
        version: such as ``3.11.7``.
        folders: folders outside ``/usr`` that it needs, outermost only.
    """

    executable: Path
    version: str
    folders: tuple[Path, ...]

    @property
    def said(self) -> str:
        """Which one it is, as a line for people."""
        return f"python {self.version}: {self.executable}{' (the one of whet)' if self.is_own else ''}"

    @property
    def is_own(self) -> bool:
        """Whether whet itself runs on it."""
        return self.executable == Path(sys.executable)


@cache
def find_interpreter(path: Path | None = None) -> Interpreter:
    """Describes an interpreter by asking it; None is the one that runs whet.

    Raises:
        UsageError: it does not run, or is too old.
    """
    executable = Path(sys.executable) if path is None else path.expanduser().absolute()
    try:
        # Without -S it would run what packages of a checkout's environment have put there, out here.
        answer = subprocess.run(
            [executable, "-I", "-S", "-c", ASK], capture_output=True, text=True, timeout=20, check=True, cwd="/"
        ).stdout
        real, version, prefixes = json.loads(answer)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise UsageError(
            f"--python {executable} does not run ({type(error).__name__}); give a python3's path"
        ) from None
    if tuple(version[:2]) < OLDEST:
        raise UsageError(f"--python {executable} is {version[0]}.{version[1]}; candidates need 3.10 or later")
    environment = Path(real).parent.parent
    if (environment / "pyvenv.cfg").is_file():  # which -S does not look at
        prefixes.append(environment)
    folders = {Path(prefix).resolve() for prefix in prefixes} | {Path(prefix).absolute() for prefix in prefixes}
    folders |= _links(Path(real))
    outside = {folder for folder in folders if not folder.is_relative_to("/usr")}
    outermost = [f for f in sorted(outside) if not any(f != g and f.is_relative_to(g) for g in outside)]
    return Interpreter(Path(real), ".".join(map(str, version)), tuple(outermost))


def _links(executable: Path) -> set[Path]:
    """Returns the folders that the links of an executable lead through."""
    folders = set()
    while executable.is_symlink():
        executable = Path(os.path.normpath(executable.parent / executable.readlink()))
        folders.add(executable.parent)
    return {folder for folder in folders if folder != Path("/bin")}


def reachable(folder: Path) -> bool:
    """Whether a user with no rights of its own can enter a folder and read what is in it."""
    return all(parent.stat().st_mode & 0o005 == 0o005 or parent == Path("/") for parent in (folder,)) and all(
        parent.stat().st_mode & 0o001 for parent in folder.parents
    )
