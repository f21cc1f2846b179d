"""Two things are called triton: the kernel language, a package, and the prover's engine, a module of one file."""

from __future__ import annotations

import sys
import sysconfig
from dataclasses import replace
from pathlib import Path

import pytest

from whet.sandbox.interpreter import Interpreter, find_interpreter
from whet.sandbox.toolchains.cuda import find_tool, packages


def with_folder(folder: Path) -> Interpreter:
    """Returns the interpreter of the tests, which finds modules in a folder first."""
    wrapper = folder / "python"
    wrapper.write_text(f'#!/bin/sh\nPYTHONPATH="{folder}" exec "{sys.executable}" "$@"\n')
    wrapper.chmod(0o755)
    return replace(find_interpreter(None), executable=wrapper)


@pytest.mark.parametrize("suffix", [sysconfig.get_config_var("EXT_SUFFIX"), ".py"])
def test_a_module_of_one_file_is_not_the_kernel_language(tmp_path: Path, suffix: str) -> None:
    (tmp_path / f"triton{suffix}").touch()
    interpreter = with_folder(tmp_path)
    assert "triton" not in packages(interpreter)
    assert find_tool("no-such-tool", interpreter) is None


def test_a_package_is(tmp_path: Path) -> None:
    tools = tmp_path / "triton" / "backends" / "nvidia" / "bin"
    tools.mkdir(parents=True)
    (tmp_path / "triton" / "__init__.py").touch()
    (tools / "whet-tool").touch()
    interpreter = with_folder(tmp_path)
    assert packages(interpreter)["triton"] == tmp_path / "triton"
    assert find_tool("whet-tool", interpreter) == tools / "whet-tool"


def test_both_may_stand_in_one_folder(tmp_path: Path) -> None:
    """Python takes the package then, and so does whet."""
    (tmp_path / "triton").mkdir()
    (tmp_path / "triton" / "__init__.py").touch()
    (tmp_path / f"triton{sysconfig.get_config_var('EXT_SUFFIX')}").touch()
    assert packages(with_folder(tmp_path))["triton"] == tmp_path / "triton"
