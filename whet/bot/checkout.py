"""Copies of repositories: fetched with a token that no file and no argument holds, and checked out as plain data."""

from __future__ import annotations

import base64
import fcntl
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from whet.bot.port import Gone, Later
from whet.bot.project import neutralise
from whet.core.redaction import redacted
from whet.core.text import one_line

SECONDS = 600.0
"""Wall seconds of one command of git, of which a fetch takes longest. A smaller limit fails on large repositories and
slow networks; a larger one lets a command that hangs hold a worker for longer."""
SAFE = {
    "core.hooksPath": "/dev/null",
    "core.symlinks": "false",  # a link could lead out of the tree
    "core.fsmonitor": "false",
    "protocol.ext.allow": "never",
    "http.followRedirects": "false",  # the token is for one host
    "gc.auto": "0",
    "safe.directory": "*",
    "advice.detachedHead": "false",
    "user.name": "whet",
    "user.email": "whet@users.noreply.github.com",
}
MISSING = ("couldn't find remote ref", "not found", "does not exist", "not our ref", "does not appear to be")


class GitError(Exception):
    """A command of git failed; its text is what git said, redacted."""


def git(folder: Path, *words: str, token: str | None = None, feed: str | None = None, **environment: str) -> str:
    """Runs git and returns what it printed.

    Args:
        folder: to run in.
        words: none of them is a user's text that git could take for an option.
        token: for the remote; handed over in the environment.
        feed: what git reads from stdin.
        **environment: further variables.

    Raises:
        GitError: it failed, or took too long.
    """
    config = dict(SAFE)
    if token:
        secret = base64.b64encode(f"x-access-token:{token}".encode()).decode()
        config["http.extraHeader"] = f"Authorization: Basic {secret}"
    pairs: dict[str, str] = {}
    for index, (key, value) in enumerate(config.items()):
        pairs |= {f"GIT_CONFIG_KEY_{index}": key, f"GIT_CONFIG_VALUE_{index}": value}
    try:
        done = subprocess.run(
            ["git", *words],
            cwd=folder,
            input=feed or "",
            capture_output=True,
            text=True,
            errors="surrogateescape",
            timeout=SECONDS,
            check=False,
            env={
                "PATH": os.environ.get("PATH", os.defpath),
                "HOME": str(folder),
                "GIT_CONFIG_NOSYSTEM": "1",
                "GIT_CONFIG_GLOBAL": os.devnull,
                "GIT_CONFIG_COUNT": str(len(config)),
                "GIT_TERMINAL_PROMPT": "0",
                "GIT_LFS_SKIP_SMUDGE": "1",
                "LC_ALL": "C",
                **pairs,
                **environment,
            },
        )
    except subprocess.TimeoutExpired:
        raise GitError(f"git {words[0]} took more than {SECONDS:.0f} s") from None
    if done.returncode:
        raise GitError(one_line(redacted(f"git {words[0]}: {done.stderr.strip()}"), 500))
    return done.stdout


@dataclass(frozen=True, slots=True)
class Checkout:
    """A pull request's code.

    Attributes:
        store: the bare repository.
        tree: the head's files, without any configuration of whet's.
        base_tree: those of the commit that the branch left from, the same way.
        head: that commit.
        base: the commit that the branch left from.
        trusted: where the base branch is: what decides stands there.
    """

    store: Path
    tree: Path
    base_tree: Path
    head: str
    base: str
    trusted: str


def fetch(folder: Path, url: str, number: int, base_branch: str, token: str | None) -> tuple[str, str]:
    """Fetches a pull request into the copy of its repository.

    Args:
        folder: of the copy; made where it is missing.
        url: of the repository.
        number: of the pull request.
        base_branch: that it is to be merged into.
        token: that may read the code.

    Returns:
        the head and the tip of the base branch.

    Raises:
        Gone: the repository or a branch is no longer there.
        Later: it could not be fetched now.
    """
    head, base = f"refs/whet/{number}/head", f"refs/whet/{number}/base"
    with _alone(folder):
        try:
            if not (folder / "HEAD").exists():
                git(folder, "init", "--quiet", "--bare")
            wanted = (f"+refs/pull/{number}/head:{head}", f"+refs/heads/{base_branch}:{base}")
            git(folder, "fetch", "--quiet", "--no-tags", "--no-recurse-submodules", url, *wanted, token=token)
            found = [git(folder, "rev-parse", "--verify", f"{ref}^{{commit}}").strip() for ref in (head, base)]
            return found[0], found[1]
        except GitError as error:
            if any(word in str(error) for word in MISSING):
                raise Gone(str(error)) from None
            raise Later(str(error)) from None


def check_out(store: Path, folder: Path, head: str, trusted: str) -> Checkout:
    """Writes both sides of a pull request into a folder, anew.

    Raises:
        Gone: the two have no commit in common, or a commit is not there.
    """
    try:
        base = git(store, "merge-base", trusted, head).split()[0]
    except GitError as error:
        raise Gone(f"no commit in common with the base: {error}") from None
    trees = folder / "head", folder / "base"
    for tree, commit in zip(trees, (head, base), strict=True):
        shutil.rmtree(tree, ignore_errors=True)
        tree.mkdir(parents=True)
        git(
            store,
            "--work-tree",
            str(tree),
            "checkout",
            "--force",
            commit,
            "--",
            ".",
            GIT_INDEX_FILE=str(folder / "index"),
        )
        (folder / "index").unlink(missing_ok=True)
        neutralise(tree)
    return Checkout(store, *trees, head, base, trusted)


def commit_patches(checkout: Checkout, patches: list[str], message: str) -> str:
    """Makes a commit of patches on top of the head, and returns its id: the same for the same patches.

    Raises:
        GitError: a patch does not apply.
    """
    store, index = checkout.store, {"GIT_INDEX_FILE": str(checkout.tree.parent / "index")}
    try:
        git(store, "read-tree", checkout.head, **index)
        for patch in patches:
            git(store, "apply", "--cached", "-", feed=patch, **index)
        tree = git(store, "write-tree", **index).strip()
    finally:
        Path(index["GIT_INDEX_FILE"]).unlink(missing_ok=True)
    date = git(store, "show", "--no-patch", "--format=%cI", checkout.head).strip()
    dates = {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
    return git(store, "commit-tree", tree, "-p", checkout.head, "-F", "-", feed=message, **dates).strip()


def push(checkout: Checkout, url: str, commit: str, branch: str, token: str | None) -> None:
    """Pushes a commit to a branch of the repository, never by force.

    Raises:
        GitError: the repository does not take it.
    """
    git(checkout.store, "push", "--quiet", url, f"{commit}:refs/heads/{branch}", token=token)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Keeps other workers from fetching into the same copy."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "whet.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
