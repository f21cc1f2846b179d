"""The files of a folder whose program is built and run by commands."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from whet.core.errors import UsageError

MOST_FILES = 500
"""Texts in a folder: each candidate is built with all of them. More make every build slower; a smaller limit refuses
larger programs."""
LARGEST = 16 << 20
"""Bytes of all of them together."""
LEFT_OUT = ("__pycache__", "node_modules")


def folder_texts(folder: Path, without: Sequence[str]) -> dict[str, str]:
    """Returns the texts in a folder: path under it -> text.

    Left out are hidden files and folders, links, files that are no UTF-8 text (what an earlier build left, say), and
    ``best.*`` at its top: there the best answer known to a task may lie.

    Args:
        folder: of the task.
        without: paths under it of files and folders that no candidate may see, such as recorded cases.

    Raises:
        UsageError: there are too many, or they are too large.
    """
    texts: dict[str, str] = {}
    total = 0
    unseen = {(folder / path).resolve() for path in without}
    for file in _files(folder, unseen):
        size = file.stat().st_size
        if size > LARGEST or (text := _text(file)) is None:
            continue
        texts[file.relative_to(folder).as_posix()] = text
        total += size
        if len(texts) > MOST_FILES or total > LARGEST:
            raise UsageError(
                f"{folder} holds more than {MOST_FILES} files or {LARGEST >> 20} MiB of text, all of which each "
                "candidate would be built with; keep the task in a folder of its own"
            )
    return texts


def _files(folder: Path, unseen: set[Path]) -> Iterator[Path]:
    for where, folders, names in os.walk(folder):
        here = Path(where)
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".") and name not in LEFT_OUT and (here / name).resolve() not in unseen
        )
        for name in sorted(names):
            file = here / name
            known = here == folder and name.startswith("best.")
            if not (name.startswith(".") or known or file.is_symlink() or file.resolve() in unseen) and file.is_file():
                yield file


def _text(file: Path) -> str | None:
    try:
        return file.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return None
