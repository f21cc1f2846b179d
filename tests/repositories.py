"""Small repositories for tests, with real git."""

from __future__ import annotations

import subprocess
from pathlib import Path

IDENTITY = ("-c", "user.name=somebody", "-c", "user.email=somebody@example.org")


def repository(root: Path, files: dict[str, str]) -> Path:
    """Writes files into a new git repository and commits them; returns its root."""
    root.mkdir(parents=True, exist_ok=True)
    git(root, "init", "--quiet")
    return commit(root, files)


def commit(root: Path, files: dict[str, str], message: str = "work") -> Path:
    """Writes files into a repository and commits all that is there; returns its root."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--allow-empty", "--message", message)
    return root


def git(root: Path, *words: str) -> str:
    """Runs git in a folder; returns what it prints."""
    done = subprocess.run(["git", *IDENTITY, *words], cwd=root, capture_output=True, text=True, check=True)
    return done.stdout
