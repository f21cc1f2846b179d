"""Wheel and sdist: what they hold, and that they run outside the checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tarfile
import zipfile

import pytest
from paths import ROOT

from whet import __version__

pytestmark = pytest.mark.corpus

LINKS = ("agents", "sandbox", "evaluators", "benchmarks", "prompts")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The folder with the sdist and with the wheel that was built from it."""
    out = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", out, ROOT]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return out


@pytest.fixture(scope="module")
def wheel_names(built):
    with zipfile.ZipFile(next(built.glob("*.whl"))) as wheel:
        return set(wheel.namelist())


@pytest.fixture(scope="module")
def sdist_names(built):
    with tarfile.open(next(built.glob("*.tar.gz"))) as sdist:
        return {name.split("/", 1)[1] for name in sdist.getnames() if "/" in name}


def committed_data():
    """Returns the package's files that are not modules, as the wheel names them."""
    return {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "whet").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


@pytest.mark.corpus
def test_the_wheel_holds_the_package_and_nothing_else_at_the_top(wheel_names):
    tops = {name.split("/")[0] for name in wheel_names}
    assert tops == {"whet", f"whet-{__version__}.dist-info"}


def test_both_hold_every_file_of_the_package(wheel_names, sdist_names):
    assert committed_data() - wheel_names == set()
    assert committed_data() - sdist_names == set()


@pytest.mark.parametrize("name", ["whet/prompts/", "whet/benchmarks/tasks/", "whet/benchmarks/held_out/"])
def test_data_comes_along(wheel_names, name):
    assert any(entry.startswith(name) and not entry.endswith(".py") for entry in wheel_names)


def test_the_sdist_leaves_the_links_out_and_brings_what_a_build_needs(sdist_names):
    assert {name for name in sdist_names if name.split("/")[0] in LINKS} == set()
    assert {"LICENSE", "README.md", "pyproject.toml", "Makefile", "mkdocs.yml"} <= sdist_names
    assert {"tests/test_packaging.py", "docs/cli.md", "CHANGELOG.md"} <= sdist_names


def test_the_wheel_carries_licence_and_console_script(built, wheel_names):
    info = f"whet-{__version__}.dist-info"
    assert f"{info}/licenses/LICENSE" in wheel_names
    with zipfile.ZipFile(next(built.glob("*.whl"))) as wheel:
        assert b"whet = whet.cli.main:main" in wheel.read(f"{info}/entry_points.txt")


def test_the_installed_wheel_runs_outside_the_checkout(built, tmp_path):
    place = tmp_path / "site"
    wheel = next(built.glob("*.whl"))
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-index",
        "--target",
        place,
        wheel,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert not any((place / name).exists() for name in LINKS)

    # -S leaves out an editable install of this very checkout; the dependencies come by path.
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(place), sysconfig.get_path("purelib")])}
    ask = "import whet; print(whet.__file__)"
    done = subprocess.run(
        [sys.executable, "-S", "-c", ask],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=environment,
    )
    assert done.stdout.splitlines() == [str(place / "whet" / "__init__.py")]
    done = subprocess.run(
        [sys.executable, "-S", "-m", "whet", "--version"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=environment,
    )
    assert (done.returncode, done.stdout) == (0, f"whet {__version__}\n")
