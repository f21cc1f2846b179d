"""Patches as people make them: by diff -u or git, in any folder, against a copy; and why one cannot be used."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from whet.core.patch import Malformed
from whet.core.patch_target import apply_to

OLD = "def f(items):\n    seen = []\n    for item in items:\n        seen.append(item)\n    return seen\n"
NEW = "def f(items):\n    return list(items)\n"


def made(command: list[str], folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    return done.stdout


def write(folder: Path, **texts: str) -> None:
    for name, text in texts.items():
        path = folder / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("slow.py.orig", "slow.py"),
        ("slow.py", "slow.py.new"),
        ("slow.py~", "slow.py"),
        ("slow.py", "fast.py"),
        ("before.py", "after.py"),
        ("old/slow.py", "new/slow.py"),
        ("a/deep/down/slow.py.orig", "slow.py"),
        ("src/my package/slow.py.bak", "src/my package/slow.py"),
    ],
)
@pytest.mark.parametrize("absolute", [False, True])
def test_a_plain_diff_of_two_files_is_taken(tmp_path, old, new, absolute):
    for name, text in ((old, OLD), (new, NEW)):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    names = [str(tmp_path / name) if absolute else name for name in (old, new)]
    assert apply_to(made(["diff", "-u", *names], tmp_path), "slow.py", OLD) == NEW


def test_a_diff_of_two_folders_is_taken_where_the_target_alone_differs(tmp_path):
    write(tmp_path, **{"old__pkg__slow.py": OLD, "new__pkg__slow.py": NEW, "new__notes.txt": "mine\n"})
    patch = made(["diff", "-ru", "old", "new"], tmp_path)
    assert "Only in new: notes.txt" in patch
    assert apply_to(patch, "slow.py", OLD) == NEW


@pytest.mark.parametrize("options", [[], ["--no-prefix"], ["--src-prefix=i/", "--dst-prefix=w/"]])
@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_git_may_write_any_prefix_and_quote_a_name(tmp_path, options):
    write(tmp_path, **{"old__slöw.py": OLD, "new__slöw.py": NEW})
    command = ["git", "diff", "--no-index", *options, "old/slöw.py", "new/slöw.py"]
    patch = made(command, tmp_path)
    assert "\\303\\266" in patch
    assert apply_to(patch, "slöw.py", OLD) == NEW


def test_a_diff_without_a_head_is_taken():
    assert apply_to(
        "@@ -4 +4 @@\n-        seen.append(item)\n+        seen += [item]\n", "slow.py", OLD
    ) == OLD.replace("seen.append(item)", "seen += [item]")


HUNK = "@@ -1,2 +1,2 @@\n def f(items):\n-    seen = []\n+    seen = list()\n"


@pytest.mark.parametrize(
    ("patch", "says"),
    [
        ("", "it is empty: the two files that it was made of are alike"),
        (f"--- a/other.py\n+++ b/other.py\n{HUNK}", "it changes other.py; only the target, slow.py, may change"),
        (f"--- slow.py\n+++ slow.py\n{HUNK}--- other.py\n+++ other.py\n{HUNK}", "it changes other.py; only"),
        ("diff --git a/logo.png b/logo.png\nBinary files differ\n", "it changes logo.png; only"),
        ("diff --git a/slow.py b/s.py\nrename from slow.py\nrename to s.py\n", "it changes s.py; only"),
        ("--- /dev/null\n+++ b/slow.py\n@@ -0,0 +1 @@\n+x = 1\n", "it makes slow.py as a new file"),
        ("--- a/slow.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-def f(items):\n", "it removes slow.py"),
        (f"--- slow.py\n+++ slow.py\n{HUNK.replace('seen = []', 'mine = []')}", "the file has no line: mine = []"),
        (f"--- x.py\n+++ y.py\n{HUNK.replace('seen = []', 'mine = []')}", "it compares x.py with y.py, and hunk 1"),
        ("2c2\n<     seen = []\n---\n>     seen = list()\n", "it is no unified diff; make it with: diff -u OLD NEW"),
        ("*** slow.py\n--- fast.py\n***************\n*** 1 ****\n! x\n--- 1 ----\n! y\n", "it is no unified diff"),
        (
            "--- fast.py\n+++ slow.py\n@@ -1,2 +1,2 @@\n def f(items):\n-    seen = list()\n+    seen = []\n",
            "it fits the other way round",
        ),
    ],
)
def test_what_cannot_be_applied_says_why(patch, says):
    found = apply_to(patch, "slow.py", OLD)
    assert isinstance(found, Malformed)
    assert says in found.complaint
    assert "\n" not in found.complaint
