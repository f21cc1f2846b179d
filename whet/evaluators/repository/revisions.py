"""A user's git repository: its commits, worktrees of whet's own, and branches. The user's own checkout is only read.

Names and revisions come from strangers: a revision becomes the hash of a commit before anything else is done with it,
paths stand behind ``--``, and nothing that a repository configures (hooks, signing, a monitor of files) is started.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from whet.core.errors import UsageError
from whet.core.text import one_line

if TYPE_CHECKING:
    from git import Repo

SHA = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
BRANCHES = "whet/"
BUILT = (".so", ".py")
"""Endings of ignored files that code needs beside it: compiled extensions, and modules that a build wrote."""
SETTINGS = {
    "core.hooksPath": "/dev/null",
    "core.fsmonitor": "false",
    "commit.gpgSign": "false",
    "gc.auto": "0",
    "advice.detachedHead": "false",
}
AUTHOR = ("whet", "whet@localhost")
"""Of commits, where the user has told git no name."""


class GitRefused(Exception):
    """Git ended with an error; what it said, as one line."""


@dataclass(frozen=True, slots=True)
class Checkout:
    """A repository with a work tree, as its user keeps it.

    Attributes:
        top: its top folder.
        project: the folder that was asked for, from the top: ``.`` where it is the top.
    """

    top: Path
    project: PurePosixPath
    _repo: Repo

    @classmethod
    def open(cls, folder: Path) -> Checkout:
        """Finds the repository that a folder lies in.

        Raises:
            UsageError: there is none, it has no work tree or no commits, or git refuses to read it.
        """
        folder = folder.expanduser().resolve()
        repo = _opened(folder)
        if repo.bare or repo.working_tree_dir is None:
            raise UsageError(f"{folder} is a bare repository; give a checkout of it")
        top = Path(repo.working_tree_dir).resolve()
        made = cls(top, PurePosixPath(folder.relative_to(top)), repo)
        try:
            made._git("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
        except GitRefused as error:
            if str(error):
                raise UsageError(f"git cannot read {folder}: {error}") from None
            raise UsageError(f"{folder} has no commits yet; commit what is to be made faster") from None
        return made

    @property
    def root(self) -> Path:
        """The folder that was asked for."""
        return self.top / self.project

    @property
    def head(self) -> str:
        """Hash of the commit that is checked out, on a branch or not."""
        return self.commit("HEAD")

    def commit(self, revision: str) -> str:
        """Returns the hash of the commit that a revision names.

        Raises:
            UsageError: it names none.
        """
        plain = revision.strip()
        if plain and not plain.startswith("-") and plain.isprintable():
            try:
                found = self._git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{plain}^{{commit}}")
            except GitRefused:
                found = ""
            # Some releases of git print the separator too.
            if SHA.fullmatch(sha := found.strip().rpartition("\n")[2]):
                return sha
        raise UsageError(f"no revision '{one_line(revision, 80)}' in {self.top}; see git log")

    def merge_base(self, one: str, other: str) -> str:
        """Returns the hash of the best common ancestor of two commits.

        Raises:
            UsageError: they have none, or the clone is too shallow to hold it.
        """
        try:
            return self._git("merge-base", self.commit(one), self.commit(other)).strip()
        except GitRefused:
            raise UsageError(
                f"'{one_line(one, 80)}' and '{one_line(other, 80)}' have no common ancestor here; a shallow clone may "
                "lack it: git fetch --unshallow"
            ) from None

    def changed_files(self, old: str, new: str) -> tuple[str, ...]:
        """Returns the files of the project that differ between two commits, from the project's folder."""
        below = () if self.project == PurePosixPath() else (f"--relative={self.project}",)
        return _names(self._git("diff", "--name-only", "-z", "--no-renames", *below, _hash(old), _hash(new), "--"))

    def uncommitted(self) -> tuple[str, ...]:
        """Returns the files that are not as committed, from the top; untracked ones too, ignored ones not."""
        rows = _names(self._git("status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=normal"))
        return tuple(row[3:] for row in rows)

    def text(self, commit: str, path: str) -> str | None:
        """Returns a file of the project at a commit; None where it is not there, or no UTF-8 text."""
        place = (self.project / path).as_posix()
        try:
            data = self._repo.commit(_hash(commit)).tree.join(place).data_stream.read()
            return bytes(data).decode("utf-8")
        except (KeyError, UnicodeDecodeError, ValueError):
            return None

    @contextmanager
    def worktree(self, place: Path, commit: str) -> Iterator[Worktree]:
        """Checks a commit out in a folder of whet's own, for as long as it is used; an earlier one there is renewed."""
        made = self.open_worktree(place, commit)
        try:
            yield made
        finally:
            self.remove_worktree(place)

    def open_worktree(self, place: Path, commit: str) -> Worktree:
        """Checks a commit out in a folder of whet's own; one that is there from before is used again.

        Raises:
            UsageError: git cannot make it.
        """
        self._git("worktree", "prune")
        try:
            if not (place / ".git").is_file():
                place.parent.mkdir(parents=True, exist_ok=True)
                self._git("worktree", "add", "--detach", "--force", "--", str(place), _hash(commit))
            made = Worktree(place, self.project, _opened(place))
            made.reset(commit)
        except (GitRefused, OSError) as error:
            raise UsageError(f"no worktree of {self.top} can be made at {place}: {error}") from None
        self._add_built(made)
        return made

    def remove_worktree(self, place: Path) -> None:
        """Removes a worktree of whet's own; the commits made in it stay."""
        try:
            self._git("worktree", "remove", "--force", "--force", "--", str(place))
        except GitRefused:
            self._git("worktree", "prune")

    def set_branch(self, name: str, commit: str) -> None:
        """Lets a branch of whet's own point at a commit."""
        if not re.fullmatch(r"[\w-]+", name):
            raise ValueError(f"{name} is no name of a branch")
        self._git("update-ref", f"refs/heads/{BRANCHES}{name}", _hash(commit))

    def as_committed(self, path: str, commit: str) -> bool:
        """Whether a file of the user's checkout holds what the commit does."""
        try:
            self._git("diff", "--quiet", "--no-ext-diff", _hash(commit), "--", (self.project / path).as_posix())
        except GitRefused:
            return False
        return True

    def _add_built(self, worktree: Worktree) -> None:
        """Copies what a build left beside the tracked code of the user's checkout and git ignores."""
        rows = _names(self._git("ls-files", "-z", "--others", "--ignored", "--exclude-standard"))
        tracked = {str(PurePosixPath(name).parent) for name in _names(self._git("ls-files", "-z"))}
        for row in rows:
            path = PurePosixPath(row)
            source, place = self.top / path, worktree.top / path
            if path.suffix in BUILT and str(path.parent) in tracked and source.is_file() and not source.is_symlink():
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(source.read_bytes())

    def _git(self, *words: str) -> str:
        return _run(self._repo, *words)


@dataclass(frozen=True, slots=True)
class Worktree:
    """A worktree of whet's own.

    Attributes:
        top: its folder.
        project: the folder that is worked on, from the top.
    """

    top: Path
    project: PurePosixPath
    _repo: Repo

    @property
    def root(self) -> Path:
        """The folder that is worked on."""
        return self.top / self.project

    def file(self, path: str) -> Path:
        """Returns where a file of the project lies.

        Raises:
            UsageError: it is a link, or leads out of the worktree.
        """
        place = self.root / path
        if place.is_symlink() or not place.resolve().is_relative_to(self.top.resolve()):
            raise UsageError(f"{path} leads out of the repository")
        return place

    def reset(self, commit: str) -> None:
        """Takes everything tracked back to a commit."""
        _run(self._repo, "checkout", "--quiet", "--force", "--detach", _hash(commit))
        _run(self._repo, "reset", "--quiet", "--hard", _hash(commit))

    def commit(self, paths: Sequence[str], message: str) -> str:
        """Commits some files and returns the hash of the commit."""
        names = [(self.project / path).as_posix() for path in paths]
        _run(self._repo, "add", "--", *names)
        try:
            _run(self._repo, "var", "GIT_COMMITTER_IDENT")
            who: tuple[str, ...] = ()
        except GitRefused:
            who = ("-c", f"user.name={AUTHOR[0]}", "-c", f"user.email={AUTHOR[1]}")
        _run(self._repo, *who, "commit", "--quiet", "--no-verify", "-m", message, "--", *names)
        return _run(self._repo, "rev-parse", "HEAD").strip()


def _opened(folder: Path) -> Repo:
    """Returns a repository from which git starts, asks and locks nothing that is not needed."""
    if shutil.which("git") is None:
        raise UsageError("git is missing; install it to work on a repository")
    # Not before: GitPython does not load without git.
    from git import Repo
    from git.exc import InvalidGitRepositoryError, NoSuchPathError

    try:
        repo = Repo(folder, search_parent_directories=True)
    except (InvalidGitRepositoryError, NoSuchPathError):
        raise UsageError(f"{folder} is not in a git repository; run 'git init' there and commit") from None
    variables = {"GIT_CONFIG_COUNT": str(len(SETTINGS)), "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0"}
    for number, (name, value) in enumerate(SETTINGS.items()):
        variables |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
    repo.git.update_environment(**variables)
    return repo


def _run(repo: Repo, *words: str) -> str:
    from git.exc import GitCommandError

    try:
        return str(repo.git.execute(["git", *words], strip_newline_in_stdout=False))
    except GitCommandError as error:
        said = str(error.stderr).strip().removeprefix("stderr:").strip(" '\n")
        raise GitRefused(one_line(said, 300)) from None


def _hash(commit: str) -> str:
    if not SHA.fullmatch(commit):
        raise ValueError(f"{commit} is no hash of a commit")
    return commit


def _names(listed: str) -> tuple[str, ...]:
    return tuple(name for name in listed.split("\0") if name)


def listed(names: Sequence[str], most: int = 5) -> str:
    """Returns some names for a line: the first ones, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(one_line(name, 80) for name in names[:most]) + more
