"""Copies of a repository in sandboxes: built once, then put in place anew for every command that runs in them.

So nothing that one run leaves, in the copy or beside it, is there for the next.
"""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from whet.core.errors import UsageError
from whet.core.repository import ProjectKind, Survey
from whet.core.task import MIB, Limits
from whet.core.verdict import Reason
from whet.evaluators.finding import Fault
from whet.evaluators.project import MOST_BYTES, project_files
from whet.evaluators.repository.running import SHIMS, shims
from whet.evaluators.repository.skipped import matches
from whet.evaluators.shell import LineResult, Shell, opened, staged
from whet.sandbox.interpreter import Interpreter
from whet.sandbox.protocol import Incident, Sandbox
from whet.sandbox.staging import PATH

SECONDS = 600.0
"""What a command of the repository may take."""
BUILD_SECONDS = 1800.0
"""Seconds of a build. A smaller limit refuses large native projects, a larger one only makes a build that hangs slower
to report."""
COPY_SECONDS = 120.0
"""Seconds to copy, pack or unpack a tree. A smaller limit fails on a busy machine, a larger one only makes a broken
sandbox slower to report."""
LIMITS = Limits(seconds=SECONDS, memory=4096 * MIB, processes=256, output=256 * MIB)
LARGE = MIB
"""Bytes from which on a file that the configuration ignores is left out of copies."""
ARCHIVE = "built.tar"
COMPILE = "{python} -m compileall -q . >/dev/null 2>&1; true"
"""Python's own caches, so that runs do not compile what the user's would find compiled; a text of old may not parse."""
_NUMBERS = count()


@dataclass(frozen=True, slots=True)
class Ground:
    """Where copies of a repository run, and how.

    Attributes:
        sandbox: keeps them in.
        interpreter: of the project's environment; its folder stands first on the path.
        survey: of the repository.
        cores: how many processors its commands may use.
    """

    sandbox: Sandbox
    interpreter: Interpreter
    survey: Survey
    cores: int = 1


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A repository at one moment, built; close it when it is no longer needed.

    Attributes:
        tree: folder of the host that holds it as an archive.
    """

    tree: Path

    def close(self) -> None:
        """Removes it."""
        shutil.rmtree(self.tree, ignore_errors=True)


def lighten(folder: Path, ignore: Sequence[str]) -> None:
    """Removes large files that the configuration ignores from a worktree of whet's own.

    Raises:
        UsageError: it is still too large to be copied.
    """
    for path in [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]:
        name = path.relative_to(folder).as_posix()
        if path.stat().st_size > LARGE and any(matches(name, glob) for glob in ignore):
            path.unlink()
    try:
        project_files(folder)
    except UsageError:
        raise UsageError(
            f"the files of the repository come to more than {MOST_BYTES // MIB} MiB; name large ones that its command "
            "and tests do without under ignore, in [tool.whet]"
        ) from None


def snapshot(
    ground: Ground,
    folder: Path,
    files: Mapping[str, bytes] | None = None,
    *,
    replaced: Mapping[str, str] | None = None,
    compilers: Mapping[str, str] | None = None,
) -> Snapshot | Fault:
    """Copies a folder into a sandbox, builds it there and keeps what came of it.

    Args:
        ground: where.
        folder: the project, as it is to be run; the link to its repository is left out.
        files: what its commands find beside the archive: path -> content.
        replaced: files of the folder that are built with other texts: path -> text.
        compilers: programs that stand first on the path of the build: name -> the shell text that stands for it.

    Returns:
        the copy, or why it does not build.
    """
    first = {f"{SHIMS}/{name}": text for name, text in shims(ground.interpreter, compilers).items()}
    with (
        staged(ground, first, {"repo": folder}, executable=True, left_out=(".git",)) as tree,
        opened(ground, tree, limits=LIMITS) as shell,
    ):
        for path, text in (replaced or {}).items():
            place = tree / "repo" / path
            if place.is_symlink() or not place.resolve().is_relative_to(tree.resolve()):
                return Fault(Reason.BUILD_ERROR, f"{path} is a link")
            place.write_text(text, encoding="utf-8", newline="")
        ran = shell.run(f"cp -R {shlex.quote(shell.tree)}/repo repo && chmod -R u+w repo", COPY_SECONDS)
        if ran.well:
            ran = shell.run(_within(ground, _build(ground), f"{shell.tree}/{SHIMS}"), BUILD_SECONDS)
        if not ran.well:
            return Fault(Reason.BUILD_ERROR, f"it does not build: {ran.why}\n{ran.stderr}".rstrip())
        packed = shell.run(f"tar -cf {ARCHIVE} repo", COPY_SECONDS)
        archive = shell.read(f"/work/{ARCHIVE}") if packed.well else Fault(Reason.BUILD_ERROR, packed.why)
    if isinstance(archive, Fault):
        return archive
    programs = {f"{SHIMS}/{name}": text for name, text in shims(ground.interpreter).items()}
    given = {**(files or {}), **programs, ARCHIVE: archive}
    return Snapshot(ground.sandbox.stage(f"snapshot-{next(_NUMBERS)}", given, executable=True))


class Copy:
    """A sandbox in which commands run on a copy of a snapshot. See `copied`."""

    def __init__(self, shell: Shell, ground: Ground) -> None:
        self._shell = shell
        self._ground = ground
        self.beside = shell.tree
        """Where commands see the files beside the archive."""

    def renew(self) -> Fault | None:
        """Removes all that earlier commands left, and puts the copy in place as it was built."""
        try:
            self._shell.clear()
        except Incident as incident:
            return Fault(Reason.CRASH, str(incident))
        ran = self._shell.run(f"tar -xf {shlex.quote(self.beside)}/{ARCHIVE}", COPY_SECONDS)
        return None if ran.well else Fault(Reason.CRASH, f"the copy cannot be put in place: {ran.why}")

    def run(self, command: str, seconds: float = SECONDS, hash_seed: int = 0, stdin: bytes = b"") -> LineResult:
        """Runs a line of the shell in the copy's folder.

        Args:
            command: the line.
            seconds: that it may take.
            hash_seed: PYTHONHASHSEED of its processes.
            stdin: what it reads.
        """
        first = f"{self.beside}/{SHIMS}"
        return self._shell.run(_within(self._ground, command, first, hash_seed), seconds, stdin)


@contextmanager
def copied(ground: Ground, snapshot: Snapshot, cores: Sequence[int] = (), reserves: bool = False) -> Iterator[Copy]:
    """Opens a sandbox beside a snapshot, and puts the copy in place.

    Args:
        ground: where.
        snapshot: what is copied.
        cores: processors that its commands may use; none for all.
        reserves: whether they reserve address space beyond all measure, as sanitizers do.
    """
    with opened(ground, snapshot.tree, cores, LIMITS, reserves=reserves) as shell:
        copy = Copy(shell, ground)
        copy.renew()
        yield copy


def _build(ground: Ground) -> str:
    if ground.survey.kind is ProjectKind.PYTHON:
        return COMPILE.format(python=shlex.quote(str(ground.interpreter.executable)))
    return ground.survey.build or "true"


def _within(ground: Ground, command: str, first: str = "", hash_seed: int = 0) -> str:
    """Returns a line that runs in the copy, with a folder and the project's environment first on the path."""
    places = [f"/work/repo/{package}" for package in ground.survey.packages]
    variables = {
        "PATH": ":".join(filter(None, (first, str(ground.interpreter.executable.parent), PATH))),
        "PYTHONHASHSEED": str(hash_seed),
        "PYTHONNOUSERSITE": "1",
        **({"PYTHONPATH": ":".join(places)} if places else {}),
    }
    settings = " ".join(f"{name}={shlex.quote(value)}" for name, value in variables.items())
    return f"cd repo || exit 125\nexport {settings}\n{command}"
