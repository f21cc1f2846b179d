"""Folders of native functions: their contracts, their inputs, and best versions beside their references."""

from __future__ import annotations

import multiprocessing
import random
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from whet.core.signature import Signature
from whet.evaluators.inputs.contract import generator_text
from whet.evaluators.signature import SignatureTable, read_signature
from whet.sandbox.inside.codec import Elements, encode
from whet.sandbox.inside.lengths import evaluate
from whet.sandbox.inside.native_target import NativeTarget

FLOAT_RULES = {4: {"rtol": 1e-4, "atol": 1e-5}, 8: {"rtol": 1e-9, "atol": 1e-10}}
"""Tolerances by the bytes of a float."""


def table_of(folder: Path) -> dict[str, Any]:
    return tomllib.loads((folder / "whet.toml").read_text())


def contract(folder: Path) -> Signature:
    table = table_of(folder)
    return read_signature(SignatureTable.model_validate(table["signature"]), table["task"]["symbol"], folder.name)


def makers(folder: Path) -> list[Any]:
    """Returns the functions that make a task's inputs."""
    workload = table_of(folder)["workload"]
    if "generator" in workload:
        text = (folder / workload["generator"]).read_text()
    else:
        text = generator_text(contract(folder), workload["sizes"], folder.name)
    space: dict[str, Any] = {"__name__": folder.name}
    exec(compile(text, folder.name, "exec"), space)
    assert space["sizes"] == workload.get("sizes", space["sizes"])
    assert space["sizes"] == sorted(space["sizes"])
    return [made for key, made in space.items() if key.startswith("make_input")]


def inputs(folder: Path, sizes: tuple[int, ...]) -> Iterator[tuple[Any, ...]]:
    rng = random.Random(5)
    made = makers(folder)
    return (make(size, rng) for size in sizes for make in made)


def expect_inputs_within_the_contract(folder: Path, sizes: tuple[int, ...]) -> None:
    signature = contract(folder)
    for given in inputs(folder, sizes):
        numbers = {one.name: value for one, value in zip(signature.given, given, strict=True) if not one.buffer}
        for one, value in zip(signature.given, given, strict=True):
            if not one.buffer:
                continue
            values = np.frombuffer(bytes(value), one.type)
            assert len(values) == evaluate(one.length, numbers)
            assert one.low is None or (values >= one.low).all()
            assert one.high is None or (values <= one.high).all()


def best(folder: Path) -> Path:
    (file,) = folder.glob("best.*")
    return file


def built(place: Path, source: Path) -> str:
    """Compiles a text to a shared object, for the machine that runs the tests; returns its name."""
    made = f"{source.stem}.so"
    compiler = "g++" if source.suffix == ".cpp" else "gcc"
    command = [compiler, "-O1", "-march=native", "-ffp-contract=off", "-shared", "-fPIC", "-o", place / made, source]
    subprocess.run(command, check=True)
    return made


def expect_agreement(folder: Path, sources: tuple[Path, Path], place: Path, sizes: tuple[int, ...]) -> None:
    """Compiles two texts and compares what they make of a task's inputs, in a process that a stray read may end."""
    libraries = [built(place, source) for source in sources]
    child = multiprocessing.get_context("fork").Process(target=_compare, args=(folder, str(place), libraries, sizes))
    child.start()
    child.join(60)
    assert child.exitcode == 0


def _compare(folder: Path, tree: str, libraries: list[str], sizes: tuple[int, ...]) -> None:
    signature = contract(folder)
    arguments = [(one.name, one.type, one.role, one.length, one.align) for one in signature.arguments]
    symbol = table_of(folder)["task"]["symbol"]
    sides = [NativeTarget(tree, library, symbol, signature.returns, arguments) for library in libraries]
    for given in inputs(folder, sizes):
        payload = encode(given)
        expected, found = (_plain(side.outcome("value", side.call(*side.decode(payload))[1])) for side in sides)
        assert len(expected) == len(found)
        for left, right in zip(expected, found, strict=True):
            if left.dtype.kind == "f":
                np.testing.assert_allclose(right, left, **FLOAT_RULES[left.dtype.itemsize])
            else:
                np.testing.assert_array_equal(right, left)


def _plain(outcome: Any) -> list[Any]:
    parts = outcome if isinstance(outcome, tuple) else (outcome,)
    return [np.frombuffer(one.data, one.dtype) if isinstance(one, Elements) else np.asarray(one) for one in parts]
