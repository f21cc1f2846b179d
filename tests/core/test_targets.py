"""What users write as a target."""

from __future__ import annotations

from pathlib import Path

import pytest

from whet.core.errors import UsageError
from whet.core.options import Options
from whet.core.task import MIB, Kind, Tolerance
from whet.evaluators.targets import read_task

WORKLOAD = "sizes = [10, 100]\ndef make_input(size, rng):\n    return ([1] * size,)\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "slow.py").write_text("class A:\n    def m(self, x):\n        return x\ndef f(x):\n    return x\n")
    (tmp_path / "workload.py").write_text(WORKLOAD)
    return tmp_path


def test_a_function_with_the_workload_beside_it(folder: Path) -> None:
    task = read_task(f"{folder}/slow.py::f", Options())
    assert (task.kind, task.language, task.symbol, task.filename) == (Kind.FUNCTION, "python", "f", "slow.py")
    assert task.workload.generator == WORKLOAD
    assert read_task(f"{folder}/slow.py::A.m", Options()).symbol == "A.m"


def test_exact_bytes_are_kept(folder: Path) -> None:
    (folder / "slow.py").write_bytes(b"def f(x):\r\n    return x\r\n")
    assert read_task(f"{folder}/slow.py::f", Options()).source == "def f(x):\r\n    return x\r\n"


def test_a_program_with_cases(folder: Path) -> None:
    (folder / "prog.cpp").write_text("int main(){}")
    cases = folder / "mine"
    cases.mkdir()
    (cases / "a.in").write_bytes(b"1\n")
    (cases / "a.out").write_bytes(b"2\n")
    (cases / "b.in").write_bytes(b"3\n")
    task = read_task(f"{folder}/prog.cpp", Options(workload=cases))
    assert (task.kind, task.language) == (Kind.PROGRAM, "cpp")
    assert [(c.name, c.stdin, c.expected) for c in task.workload.cases] == [("a", b"1\n", b"2\n"), ("b", b"3\n", None)]
    assert task.flags == ("-O3", "-std=c++17")


@pytest.mark.parametrize("call", ["importlib.import_module(name)", "import_module(name)", "__import__(name)"])
def test_a_package_that_imports_by_made_names_comes_along_whole(tmp_path: Path, call: str) -> None:
    package = tmp_path / "shop"
    (package / "plugins").mkdir(parents=True)
    loader = f"import importlib\nfrom importlib import import_module\n\n\ndef load(name):\n    return {call}\n"
    texts = {
        "__init__.py": loader,
        "plugins/__init__.py": "",
        "plugins/bold.py": "x = 1\n",
        "hot.py": "def f(): pass\n",
    }
    for name, text in texts.items():
        (package / name).write_text(text)
    (tmp_path / "other.py").write_text("y = 2\n")
    task = read_task(f"{package}/hot.py::f", Options())
    assert task.support.keys() == {"shop/__init__.py", "shop/plugins/__init__.py", "shop/plugins/bold.py"}


def test_a_package_is_read_with_what_it_imports(tmp_path: Path) -> None:
    package = tmp_path / "pkg"
    (package / "sub").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "sub" / "__init__.py").write_text("")
    (package / "sub" / "hot.py").write_text("from ..base import g\nfrom pkg import other\ndef f(x): return g(x)\n")
    (package / "base.py").write_text("import json\ndef g(x): return x\n")
    (package / "other.py").write_text("")
    (package / "unused.py").write_text("")
    task = read_task(f"{package}/sub/hot.py::f", Options())
    assert task.root == tmp_path
    assert task.filename == "pkg/sub/hot.py"
    assert set(task.support) == {"pkg/__init__.py", "pkg/sub/__init__.py", "pkg/base.py", "pkg/other.py"}


@pytest.mark.parametrize(
    ("line", "tolerance"),
    [
        ("", Tolerance(error_ratio=4.0)),
        ('tolerance = "exact"', Tolerance()),
        ("tolerance = {ulp = 8}", Tolerance(ulp=8.0)),
        ("tolerance = {error_ratio = 2}", Tolerance(error_ratio=2.0)),
    ],
)
def test_rules_on_floats(folder: Path, line: str, tolerance: Tolerance) -> None:
    (folder / "whet.toml").write_text(
        f'[task]\nlanguage = "python"\ntarget = "slow.py"\nsymbol = "f"\n[oracle]\n{line}\nstrides = true\n'
        '[workload]\ngenerator = "workload.py"\n'
    )
    rule = read_task(str(folder), Options()).oracle
    assert (rule.tolerance, rule.strides, rule.exception_messages) == (tolerance, True, False)


def test_two_rules_on_floats_at_once_are_an_error(folder: Path) -> None:
    (folder / "whet.toml").write_text(
        '[task]\nlanguage = "python"\ntarget = "slow.py"\nsymbol = "f"\n[oracle]\ntolerance = {ulp = 1, rtol = 1e-9}\n'
    )
    with pytest.raises(UsageError, match="give rtol and atol, or ulp, or error_ratio"):
        read_task(str(folder), Options())


def test_a_folder_with_whet_toml(folder: Path) -> None:
    (folder / "whet.toml").write_text(
        '[task]\nname = "n"\nlanguage = "python"\ntarget = "slow.py"\nsymbol = "f"\n'
        '[oracle]\ntolerance = {rtol = 1e-6}\n[workload]\nsizes = [1, 2]\ngenerator = "workload.py"\n'
        '[limits]\nseconds = 3\nmemory = "1GiB"\n'
    )
    task = read_task(str(folder), Options())
    assert (task.name, task.symbol, task.limits.seconds, task.limits.memory) == ("n", "f", 3.0, 1024 * MIB)
    assert task.oracle.tolerance.rtol == 1e-6
    assert task.workload.sizes == (1, 2)


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("slwo.py::f", "did you mean 'slow.py'"),
        ("slow.py::ff", "did you mean 'f'"),
        ("slow.py::A.n", "did you mean 'A.m'"),
        ("slow.py::zzzzz", "it defines f, A.m"),
        ("workload.txt", "no file"),
        ("notes.md", "is no target"),
        (".", "holds no whet.toml"),
        ("prog.c::main", "prog.c defines no main; it defines no function"),
    ],
)
def test_bad_targets_are_named_with_their_mend(folder: Path, target: str, says: str) -> None:
    (folder / "notes.md").write_text("")
    (folder / "prog.c").write_text("")
    with pytest.raises(UsageError) as caught:
        read_task(f"{folder}/{target}", Options())
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("toml", "says"),
    [
        ('[task]\nlanguage = "python"\ntarget = "slow.py"\nsymbl = "f"\n', "did you mean 'symbol'"),
        ('[task]\nlanguage = "python"\ntarget = "slow.py"\n[limts]\n', "did you mean 'limits'"),
        ('[task]\nlanguage = "python"\ntarget = "none.py"\n', "no file none.py"),
        ('[task]\nlanguage = "cobol"\ntarget = "slow.py"\n', "task.language"),
        ('[task]\ntarget = "slow.py"\n', "task.language"),
        ("[task\n", "not valid TOML"),
        ('[task]\nlanguage = "python"\ntarget = "slow.py"\n[limits]\nmemory = "2 elephants"\n', "no size"),
    ],
)
def test_a_bad_whet_toml_is_named_with_its_mend(folder: Path, toml: str, says: str) -> None:
    (folder / "whet.toml").write_text(toml)
    with pytest.raises(UsageError) as caught:
        read_task(str(folder), Options())
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"workload": Path("nowhere.py")}, "no such file"),
        ({"tests": ""}, "--tests is empty"),
        ({"tests": "pytest 'x"}, "cannot be read"),
    ],
)
def test_bad_options_of_a_task(folder: Path, options: dict[str, object], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        read_task(f"{folder}/slow.py::f", Options(**options))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "options",
    [{"confidence": 1.0}, {"min_speedup": 0.5}, {"cores": 4096}, {"workers": 0}, {"metric": "tme"}, {"until": "x"}],
)
def test_options_outside_their_range(options: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        Options(**options)  # type: ignore[arg-type]


def test_async_functions_are_refused(folder: Path) -> None:
    (folder / "slow.py").write_text("async def f(x):\n    return x\n")
    with pytest.raises(UsageError, match="async"):
        read_task(f"{folder}/slow.py::f", Options())
