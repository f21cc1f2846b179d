"""What `import whet` gives to programs of others: the names, one tree of errors, and types."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys

import pytest
from paths import ROOT

import whet

COMMANDS = (whet.optimize, whet.verify, whet.audit)
USED = '''"""A program of somebody who uses whet."""

from __future__ import annotations

import whet
from whet import Audit, BaselineError, Event, Replication, Result, UsageError, WhetError


def hear(event: Event) -> None:
    print(event.kind, event.text, event.data)


def code() -> int:
    try:
        found: Result = whet.optimize("slow.py::f", rounds=1, listener=hear)
        judged: Result = whet.verify("slow.py::f", candidate="fast.py")
        repeated: Replication = whet.verify(evidence="evidence.zip")
        tried: Audit = whet.audit("slow.py::f", mutants=3)
    except BaselineError as error:
        return len(error.reason)
    except UsageError as error:
        return int(error.exit_code)
    except WhetError:
        return 1
    print(found.status, judged.speedup, repeated, tried)
    return 0
'''


def test_these_names_are_public():
    assert set(whet.__all__) == {
        *("__version__", "optimize", "verify", "audit"),
        *("Audit", "Event", "Replication", "Result"),
        *("BaselineError", "BudgetError", "Contradiction", "NoInputsError", "SandboxError", "StoreError"),
        *("UnaskedError", "UsageError", "WhetError"),
    }
    assert set(whet.__all__) <= set(dir(whet))


@pytest.mark.parametrize("name", whet.__all__)
def test_each_public_name_is_found_and_told_of(name):
    found = getattr(whet, name)
    if name != "__version__":
        assert found.__name__ == name
        assert inspect.getdoc(found)
        assert re.search(rf"`{name}`", (ROOT / "docs" / "library.md").read_text(encoding="utf-8"))


def test_another_name_is_refused_as_python_does():
    with pytest.raises(AttributeError, match="module 'whet' has no attribute 'optimise'"):
        _ = whet.optimise


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.__name__)
def test_what_a_command_raises_is_public_and_under_one_root(command):
    _, _, raises = inspect.getdoc(command).partition("Raises:\n")
    names = re.findall(r"^    (\w+):", raises, re.MULTILINE)
    assert names
    for name in names:
        assert name in whet.__all__
        assert issubclass(getattr(whet, name), whet.WhetError)


def test_a_keyword_that_no_option_has_is_a_wrong_call():
    with pytest.raises(TypeError, match="'nonsense'"):
        whet.verify("slow.py::f", candidate="fast.py", nonsense=1)


def test_the_page_tells_the_exit_codes():
    page = (ROOT / "docs" / "library.md").read_text(encoding="utf-8")
    told = {name: int(code) for name, code in re.findall(r"^\| `(\w+)`[^|]*\| (\d+) \|", page, re.MULTILINE)}
    errors = [getattr(whet, name) for name in whet.__all__ if isinstance(getattr(whet, name), type)]
    assert told == {error.__name__: int(error.exit_code) for error in errors if issubclass(error, Exception)}


def test_importing_it_loads_none_of_its_parts():
    said = "import sys, whet; print([name for name in sys.modules if name.startswith('whet.')])"
    done = subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.corpus(one_in=8)
def test_a_strict_check_of_types_passes_right_uses_and_finds_wrong_ones(tmp_path):
    wrong = {
        "whet.optimize(3)": "arg-type",
        "whet.audit('slow.py::f', mutants='all')": "arg-type",
        "whet.verify('slow.py::f', candidate='fast.py').speedups": "attr-defined",
        "whet.optimise('slow.py::f')": "attr-defined",
    }
    (tmp_path / "right.py").write_text(USED, encoding="utf-8")
    (tmp_path / "wrong.py").write_text("\n".join(["import whet", *wrong]), encoding="utf-8")
    # As their author would check them; with what lint has read of whet already.
    mypy = [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml")]
    cache = ["--cache-dir", str(ROOT / ".mypy_cache")]
    done = subprocess.run(
        [*mypy, *cache, "right.py", "wrong.py"], check=False, cwd=tmp_path, capture_output=True, text=True
    )
    found = re.findall(r"^(\w+).py:(\d+): error: .*\[([\w-]+)\]$", done.stdout, re.MULTILINE)
    assert found == [("wrong", str(line), code) for line, code in enumerate(wrong.values(), 2)], done.stdout
