"""Bubblewrap where whet itself has no rights: everything that root can have held is held all the same."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pyseccomp
import pytest

import whet

USER = 1000
PYTHON = Path("/usr/bin/python3")
HANDFUL = (
    "fork-bomb background memory disk read-file init-environment write-outside sysctl user-namespace inet left-files"
)
STRIKE = """
    import os, sys
    from whet.core.errors import UsageError
    from whet.sandbox.backends import open_sandbox
    from whet.testing.attacks.strike import CORPUS, escapes
    assert os.getuid() == os.geteuid() != 0
    try:
        open_sandbox("bubblewrap", unsafe=False).close()
    except UsageError as error:
        print("unavailable:", error)
        sys.exit()
    by_name = {attack.name: attack for attack in CORPUS}
    for name in sys.argv[1:]:
        print(name, "escaped" if escapes(by_name[name], "bubblewrap") else "held")
    """


@pytest.fixture
def readable() -> Iterator[Path]:
    """A copy of whet, and of the one package that the corpus needs, which every user can read."""
    with tempfile.TemporaryDirectory(prefix="whet-copy-") as name:
        folder = Path(name)
        shutil.copytree(Path(whet.__file__).parent, folder / "whet", ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(pyseccomp.__file__, folder)
        for path in (folder, *folder.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
        yield folder


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
def test_an_unprivileged_user_s_sandbox_holds(readable: Path) -> None:
    asks = "import sys; print(sys.version_info >= (3, 11))"
    version = subprocess.run([PYTHON, "-c", asks], capture_output=True, check=False)
    if version.stdout != b"True\n":
        pytest.skip(f"{PYTHON}, which every user can run, is too old or missing")
    become = [f"--reuid={USER}", f"--regid={USER}", "--clear-groups"]
    done = subprocess.run(
        [
            *(["setpriv", *become] if os.geteuid() == 0 else []),
            *(str(PYTHON), "-B", "-c", textwrap.dedent(STRIKE), *HANDFUL.split()),
        ],
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(readable)},
        cwd="/",
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    if done.stdout.startswith("unavailable"):
        pytest.skip(done.stdout.strip())
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [f"{name} held" for name in HANDFUL.split()]
