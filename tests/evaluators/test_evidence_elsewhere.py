"""Evidence made here, repeated on a second machine: a fresh container with another user, path and Python.

What is true of that machine: it shares this one's kernel and processor, and its ``/usr``, read-only. Everything else
is its own: root file system, user, home, processes, no network; whet from a wheel, under another path, on Debian's
python3; candidates on another Python where this machine has one. The container is privileged, since docker's own
filter forbids the user namespaces that bubblewrap needs; what runs in it is an ordinary user without any capability.
"""

from __future__ import annotations

import io
import json
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import guard
import pytest
from paths import ROOT
from unique import GOOD, SLOW, workload

import whet
from whet.core.store import Store
from whet.evaluators.evidence.bundle import write_bundle
from whet.evaluators.evidence.record import bundle_of
from whet.sandbox.docker_engine import linked_folders

docker = pytest.importorskip("docker")

DEBIAN = Path("/usr/bin/python3")
USER, HOME = 4242, "/home/carol"
INSTALLED, PACKAGES, TESTS = (f"/opt/elsewhere/{name}" for name in ("whet", "packages", "tests"))
FILES = {
    "etc/passwd": f"root:x:0:0::/:/bin/sh\ncarol:x:{USER}:{USER}::{HOME}:/bin/sh\n",
    "etc/group": f"root:x:0:\ncarol:x:{USER}:\n",
    "etc/os-release": 'PRETTY_NAME="Elsewhere 1"\n',
}
FOLDERS = ("dev", "etc", "home", "opt/elsewhere", "proc", "run", "sys", "tmp", "usr", "var/tmp")

WORKLOAD = workload(10, 600, 1500)

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.usefixtures("docker_host"),
    pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed"),
    pytest.mark.skipif(
        not DEBIAN.exists() or sys.version_info[:2] != (3, 11),
        reason="the packages of this interpreter do not fit /usr/bin/python3",
    ),
]


@dataclass(frozen=True)
class Elsewhere:
    """Runs whet in a container of its own."""

    engine: Any
    image: str
    mounts: list[Any]
    python: Path | None

    def __call__(self, bundle: Path, *words: str) -> tuple[int, str, str]:
        container = self.engine.containers.create(
            self.image,
            [str(DEBIAN), "-m", "whet", *words],
            user=f"{USER}:{USER}",
            working_dir=HOME,
            environment=_environment(),
            mounts=[*self.mounts, docker.types.Mount(f"{HOME}/evidence.zip", str(bundle), "bind", read_only=True)],
            network_mode="none",
            hostname="elsewhere",
            privileged=True,
            init=False,
        )
        try:
            container.start()
            code = container.wait(timeout=400)["StatusCode"]
            said, complained = (
                container.logs(stdout=out, stderr=not out).decode("utf-8", "replace") for out in (True, False)
            )
        finally:
            container.remove(force=True)
        return code, said, complained


@pytest.fixture(scope="module")
def elsewhere(docker_host, tmp_path_factory):
    folder = tmp_path_factory.mktemp("elsewhere")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT]
    built = subprocess.run(build, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
        wheel.extractall(folder / "installed")
    folder.chmod(0o755)
    engine = docker.from_env(timeout=600)
    engine.api.import_image_from_data(_root(), repository="whet-elsewhere", tag="test")
    mounts = [("/usr", "/usr"), (str(folder / "installed"), INSTALLED), (sysconfig.get_path("purelib"), PACKAGES)]
    mounts.append((str(ROOT / "tests"), TESTS))
    if (python := _another_python()) is not None:
        # Under its own path: it finds its shared library there.
        mounts.append((str(python.parent.parent), str(python.parent.parent)))
    try:
        made = [docker.types.Mount(target, source, "bind", read_only=True) for source, target in mounts]
        yield Elsewhere(engine, "whet-elsewhere:test", made, python)
    finally:
        engine.images.remove("whet-elsewhere:test", force=True)
        engine.close()


def _environment() -> dict[str, str]:
    """Returns the environment there, in which figures come from the same script as here, where there is one."""
    places = f"{TESTS}/{guard.CHILDREN.name}:{INSTALLED}:{PACKAGES}"
    script = {guard.SCRIPT: os.environ[guard.SCRIPT]} if guard.SCRIPT in os.environ else {}
    return {"HOME": HOME, "PYTHONPATH": places, "PATH": "/usr/bin:/bin", **script}


def _root() -> bytes:
    """Returns a root file system: links into ``/usr``, which is mounted, and what a user needs beside it."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name in (*FOLDERS, HOME.removeprefix("/")):
            entry = tarfile.TarInfo(name)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o1777 if name.endswith("tmp") else 0o755
            entry.uid = entry.gid = USER if name == HOME.removeprefix("/") else 0
            archive.addfile(entry)
        for name in (*linked_folders(), "sbin"):
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname = tarfile.SYMTYPE, f"usr/{name}"
            archive.addfile(entry)
        for name, text in FILES.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(text.encode()), 0o644
            archive.addfile(entry, io.BytesIO(text.encode()))
    return buffer.getvalue()


def _another_python() -> Path | None:
    """Returns a python3 of a later minor version, as pyenv has them or on the PATH; None without one."""
    folders = [*Path(sys.base_prefix).parent.glob("3.*/bin"), *Path.home().glob(".pyenv/versions/3.*/bin")]
    folders += [Path(folder) for folder in os.get_exec_path() if not Path(folder).is_relative_to("/usr/bin")]
    found = [path for folder in folders for path in folder.glob("python3.*")]
    later = [path for path in found if path.suffix[1:].isdigit() and int(path.suffix[1:]) > sys.version_info.minor]
    return max(later, key=lambda path: int(path.suffix[1:]), default=None)


@pytest.fixture
def bundle(tmp_path: Path):
    (tmp_path / "slow.py").write_text(SLOW)
    (tmp_path / "good.py").write_text(GOOD)
    (tmp_path / "workload.py").write_text(WORKLOAD)

    def made(**options: Any) -> Path:
        for _ in range(3):  # a machine that is never quiet says so
            result = whet.verify(
                f"{tmp_path}/slow.py::unique",
                candidate=tmp_path / "good.py",
                home=tmp_path / "home",
                sandbox="bubblewrap",
                **options,
            )
            if "never quiet" not in result.message:
                break
        store = Store(tmp_path / "home")
        path = tmp_path / "evidence.zip"
        write_bundle(bundle_of(store, result.run), path)
        store.close()
        path.chmod(0o644)
        return path

    return made


def rows(document: dict[str, Any]) -> dict[str, Any]:
    return {row["name"]: row for row in document["compared"]}


def told(document: dict[str, Any]) -> dict[str, Any]:
    return {row["name"]: (row["recorded"], row["here"]) for row in document["surroundings"]}


def test_what_is_right_here_is_right_there(elsewhere, bundle) -> None:
    words = ["verify", "--evidence", f"{HOME}/evidence.zip", "--sandbox", "bubblewrap", "--json"]
    other = ["--python", str(elsewhere.python)] if elsewhere.python else []
    code, said, complained = elsewhere(bundle(until="differential"), *words, *other)
    assert code == 0, complained
    document = json.loads(said)
    assert document["schema"] == "whet.replication/1"
    assert document["agrees"] is True
    compared = rows(document)
    for name in ("verdict", "screen", "build", "differential", "differential inputs", "differential on those"):
        assert compared[name]["agrees"] is True, compared[name]
    assert told(document)["system"][1] == "Elsewhere 1"
    recorded, there = told(document)["interpreter"]
    debian = subprocess.run([DEBIAN, "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
    # Where whet itself runs on Debian's python3 and there is no other, only the machine differs.
    another = elsewhere.python is not None or platform.python_version() != debian
    assert (recorded != there) is another
    for private in (str(Path.home()), os.uname().nodename):
        assert private not in said


@pytest.mark.usefixtures("figures_at_usual_looks")
def test_a_verified_gain_is_verified_there(elsewhere, bundle) -> None:
    words = ["verify", "--evidence", f"{HOME}/evidence.zip", "--sandbox", "bubblewrap"]
    code, said, complained = elsewhere(bundle(), *words)
    assert code in (0, 3), complained
    lines = {line.split("  ")[1].strip(): line for line in said.splitlines() if line.startswith("  ")}
    assert lines["verdict"].split()[1:4] == ["improved", "improved", "agrees"], said
    for rung in ("differential", "measure", "confirm", "confirm passes"):
        assert lines[rung].rstrip().endswith("agrees"), said
    # Another build of Python gains more or less by the same change: that is said, and decides the exit code.
    overlap = "the intervals overlap" in lines["ratio"]
    assert overlap or "the intervals do not overlap" in lines["ratio"]
    assert code == (0 if overlap else 3)
