"""Targets in packages with data files and compiled modules, in a source tree or installed."""

from __future__ import annotations

import os
import py_compile
import re
import sys
import venv
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest
from unique import SLOW, workload

from whet.benchmarks.self.packages.functions import EQUAL, WRONG, beginning_with, chosen
from whet.benchmarks.self.packages.report import Row, improved, table
from whet.core.errors import UsageError
from whet.core.evidence import PackageRecord
from whet.core.options import Options
from whet.evaluators import package as packages
from whet.evaluators.artifacts import Artifact, Builder
from whet.evaluators.environment import environment_python
from whet.evaluators.evidence.packaged import package_parts, package_record, with_package
from whet.evaluators.finding import Fault
from whet.evaluators.package import package_files, site_packages
from whet.evaluators.targets import read_task
from whet.sandbox.backends import open_sandbox
from whet.sandbox.inside.codec import encode
from whet.sandbox.inside.decode import decode
from whet.sandbox.interpreter import find_interpreter
from whet.sandbox.protocol import Sandbox

TARGET = """
from . import words
from .deep.near import SHIFT

def f(x):
    return x + SHIFT + words.SIZE
"""
WORDS = "from pathlib import Path\nSIZE = len(Path(__file__).with_name('words.bin').read_bytes())\n"
FILES = {
    "__init__.py": "",
    "hot.py": TARGET,
    "words.py": WORDS,
    "words.bin": "\x00\x01\x02",
    "deep/__init__.py": "",
    "deep/near.py": "SHIFT = 100\n",
    "tests/__init__.py": "",
    "tests/test_hot.py": "def test_f(): assert f(1) == 104\n",
    "test_hot.py": "expected = 104\n",
    "workload.py": "sizes = [1]\ndef make_input(size, rng):\n    return (size,)\n",
    "whet.toml": "[task]\n",
    "best.py": "known",
    "answers/best.txt": "known",
    ".env": "SECRET=1",
}


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


@pytest.fixture(scope="module", params=["bubblewrap", "docker"])
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    if request.param == "docker":
        request.getfixturevalue("docker_host")
    with closing(open_sandbox(request.param, unsafe=False)) as opened:
        yield opened


@pytest.fixture(scope="module")
def bubblewrap() -> Iterator[Sandbox]:
    with closing(open_sandbox("bubblewrap", unsafe=False)) as opened:
        yield opened


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    folder = tmp_path / "project" / "shop"
    write(folder, FILES)
    return folder


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with an installed package, and another that imports it."""
    place = tmp_path_factory.mktemp("environment") / "mine"
    venv.create(place, symlinks=True)
    (site,) = site_packages(find_interpreter(place / "bin" / "python"))
    write(site / "shop", FILES)
    write(site, {"user.py": "import shop.hot\nAMOUNT = 1\n", "shop/_fast.so": "compiled"})
    return place


def answer(builder: Builder, source: str, x: int, worker: int | None = None) -> object:
    artifact = builder.build(source)
    assert isinstance(artifact, Artifact)
    process = artifact.start(worker=worker)
    if isinstance(process, Fault):
        return process.detail
    with closing(process):
        found = process.call(encode((x,)), 10.0)
    return found.detail if isinstance(found, Fault) else decode(found[0])[3]


@pytest.mark.parametrize("worker", [None, 0])
def test_a_candidate_stands_in_its_whole_package(shop: Path, sandbox: Sandbox, worker: int | None) -> None:
    builder = Builder(read_task(f"{shop}/hot.py::f", Options()), sandbox, find_interpreter())

    assert answer(builder, TARGET, 1, worker) == 104
    assert answer(builder, TARGET.replace("x + SHIFT", "x - SHIFT"), 1, worker) == -96


def test_what_was_compiled_of_the_original_is_not_run(shop: Path, bubblewrap: Sandbox) -> None:
    for name in ("hot.py", "words.py"):
        py_compile.compile(str(shop / name), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    builder = Builder(read_task(f"{shop}/hot.py::f", Options()), bubblewrap, find_interpreter())

    assert answer(builder, "def f(x):\n    return 'mine'\n", 1) == "mine"
    caches = [name for name in builder.links if "__pycache__" in name]
    assert caches == [f"shop/__pycache__/words.{sys.implementation.cache_tag}.pyc"]


def test_nothing_of_the_oracle_and_nothing_outside_is_staged(shop: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.bin").write_text("secret")
    (shop / "link.bin").symlink_to(tmp_path / "secret.bin")
    (shop / "linked").symlink_to(tmp_path)
    os.mkfifo(shop / "pipe")
    (shop / "inputs.py").write_text("sizes = [2]\ndef make_input(size, rng):\n    return (size,)\n")
    task = read_task(f"{shop}/hot.py::f", Options(workload=shop / "inputs.py"))
    assert task.package is not None

    seen = {"__init__.py", "words.py", "words.bin", "deep/__init__.py", "deep/near.py"}
    assert set(package_files(task.package)) == {f"shop/{name}" for name in seen}


def test_a_linked_module_outside_the_project_is_not_read(shop: Path, tmp_path: Path) -> None:
    (tmp_path / "private.py").write_text("KEY = 'secret'\n")
    (shop / "words.py").unlink()
    (shop / "words.py").symlink_to(tmp_path / "private.py")
    task = read_task(f"{shop}/hot.py::f", Options())
    assert not [text for text in task.support.values() if "secret" in text]


def test_a_package_that_is_too_large_says_what_to_do(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "MOST_FILES", 3)
    with pytest.raises(UsageError, match=r"more than 3 files or 128 MiB.*; install it, and name the installed file"):
        read_task(f"{shop}/hot.py::f", Options())


def test_files_that_change_after_the_run_began_are_noticed(shop: Path) -> None:
    task = read_task(f"{shop}/hot.py::f", Options())
    assert task.package is not None
    (shop / "words.bin").write_text("changed")
    with pytest.raises(UsageError, match="are not as they were when the run began"):
        package_files(task.package)


def test_an_installed_package_is_seen_where_it_lies(environment: Path, bubblewrap: Sandbox) -> None:
    python = environment / "bin" / "python"
    (site,) = site_packages(find_interpreter(python))
    task = read_task(f"{site}/shop/hot.py::f", Options(python=python))
    builder = Builder(task, bubblewrap, find_interpreter(python), preload=("user",))

    assert task.package is not None
    assert task.package.installed
    assert answer(builder, TARGET, 1) == 104
    # The module that the warm worker imported before holds the original.
    assert answer(builder, TARGET.replace("x + SHIFT", "x - SHIFT"), 1, worker=0) == -96


def test_the_environment_of_an_installed_target_is_found(environment: Path) -> None:
    (site,) = site_packages(find_interpreter(environment / "bin" / "python"))
    assert environment_python(site / "shop", {}) == environment / "bin" / "python"


def test_a_source_tree_borrows_compiled_modules_from_its_environment(
    environment: Path, tmp_path: Path, bubblewrap: Sandbox
) -> None:
    source = "from pathlib import Path\ndef f(x):\n    return Path(__file__).with_name('_fast.so').read_text()\n"
    write(tmp_path / "shop", {"__init__.py": "", "hot.py": source})
    python = environment / "bin" / "python"
    task = read_task(f"{tmp_path}/shop/hot.py::f", Options(python=python))

    assert answer(Builder(task, bubblewrap, find_interpreter(python)), source, 1) == "compiled"


def test_a_name_that_a_file_only_imports_is_refused_with_its_home(tmp_path: Path) -> None:
    write(tmp_path, {"shown.py": "from .inner import f\n"})
    with pytest.raises(UsageError, match=r"shown.py imports f from .inner; give the file that defines it"):
        read_task(f"{tmp_path}/shown.py::f", Options())


def test_evidence_holds_the_files_of_a_package(shop: Path, tmp_path: Path) -> None:
    task = read_task(f"{shop}/hot.py::f", Options())
    bundle = SimpleNamespace(record=SimpleNamespace(task=SimpleNamespace(package=package_record(task))))
    bundle.texts = package_parts(task)
    there = tmp_path / "there"

    again = with_package(task, bundle, find_interpreter(), there)  # type: ignore[arg-type]
    assert again.package is not None
    assert again.package.root == there
    assert package_files(again.package) == package_files(task.package)  # type: ignore[arg-type]

    bundle.texts["package/shop/words.bin"] = b"other"
    with pytest.raises(UsageError, match="in the evidence are not those that it names"):
        with_package(task, bundle, find_interpreter(), tmp_path / "elsewhere")  # type: ignore[arg-type]


@pytest.mark.parametrize(("name", "said"), [("../shop", "in which shop/hot.py is not"), ("shop", "install it")])
def test_evidence_of_an_installed_package_needs_it_installed(shop: Path, tmp_path: Path, name: str, said: str) -> None:
    task = read_task(f"{shop}/hot.py::f", Options())
    record = PackageRecord(name, True, 1, 1, "")
    bundle = SimpleNamespace(record=SimpleNamespace(task=SimpleNamespace(package=record)), texts={})
    with pytest.raises(UsageError, match=said):
        with_package(task, bundle, find_interpreter(), tmp_path)  # type: ignore[arg-type]


def test_the_chosen_functions_are_three_of_each_of_twelve_packages() -> None:
    functions = chosen()
    assert [[one.package for one in functions].count(name) for name in {one.package for one in functions}] == [3] * 12
    for one in functions:
        compile(one.inputs, one.id, "exec")


def test_rewrites_are_made_behind_the_docstring() -> None:
    source = 'class A:\n    def m(self):\n        """Doc\n        string."""\n        return 1\n'
    assert beginning_with(source, "A.m", EQUAL) == source.replace("        return", "        pass\n        return")
    assert beginning_with("def f():\n    return 1\n", "f", WRONG) == "def f():\n    return None\n    return 1\n"


def test_the_table_of_packages_says_why() -> None:
    row = Row("shop", "1.0", "shop/hot.py::f", loads=True, judged=False, refused="too large")
    assert list(table([row]))[-1] == "| shop | 1.0 | `shop/hot.py::f` | yes | no | too large |  |"


@pytest.mark.corpus(one_in=8)
@pytest.mark.parametrize(
    ("text", "said"),
    [
        (SLOW, r"4(\.\d+)?x \(.* to .*\) by list-membership.*"),
        ("def unique(xs):\n    return xs[-1:]\n", "none proposed"),
    ],
)
def test_what_the_catalogue_makes_of_a_function_is_told(tmp_path: Path, scripted, text: str, said: str) -> None:
    scripted(ratio=4.0)
    (tmp_path / "slow.py").write_text(text)
    (tmp_path / "workload.py").write_text(workload(4, 20, 40))
    options = Options(workload=tmp_path / "workload.py", seed=1)
    assert re.fullmatch(said, improved(f"{tmp_path}/slow.py::unique", options, tmp_path))
