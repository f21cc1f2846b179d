"""Which repository a file belongs to, as a name that no other repository has."""

from __future__ import annotations

import hashlib
from pathlib import Path

GITDIR = "gitdir: "
MARK = ".git"


def repository_of(path: Path) -> str:
    """Returns a name for the repository that a file stands in, or for its folder where it stands in none.

    All worktrees of a repository have one name. A copy has another, and so has what is later put in the same place.
    """
    folder = path.resolve().parent
    marked = next((parent / MARK for parent in (folder, *folder.parents) if (parent / MARK).exists()), folder)
    place = _shared(marked) if marked.is_file() else marked
    there = next(parent for parent in (place, *place.parents) if parent.exists()).stat()
    return hashlib.sha256(f"{place}\0{there.st_dev}\0{there.st_ino}".encode("utf-8", "surrogateescape")).hexdigest()


def _shared(mark: Path) -> Path:
    """Returns the folder that all worktrees of a repository share; the mark itself where it is no worktree's."""
    try:
        own = Path(mark.read_text(encoding="utf-8").strip().removeprefix(GITDIR))
        # Anybody can write a mark that names a repository. It is of that one where the repository names it too.
        if Path((own / "gitdir").read_text(encoding="utf-8").strip()).resolve() == mark.resolve():
            return (own / (own / "commondir").read_text(encoding="utf-8").strip()).resolve()
    except (OSError, ValueError):
        pass
    return mark
