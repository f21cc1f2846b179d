"""Arrays of numpy and tensors of torch as outcomes: what survives the way, and what is a difference."""

from __future__ import annotations

import importlib
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import whet
from whet.core.task import OracleRule
from whet.core.verdict import Reason
from whet.evaluators.compare import difference, show
from whet.evaluators.floats.elements import elements
from whet.sandbox.inside.codec import CodecError, encode
from whet.sandbox.inside.decode import decode
from whet.sandbox.inside.loading import find

torch = pytest.importorskip("torch", reason="torch is not installed: pip install whet[torch]")

COUNT = torch.arange(12, dtype=torch.float32).reshape(3, 4)


def resolve(name: str) -> Any:
    module, _, qualname = name.partition(":")
    return find(importlib.import_module(module), qualname)


def again(value: Any) -> Any:
    return decode(encode(value), resolve)


def outcome(value: object, after: object = ()) -> bytes:
    return encode(("value", (after, {}), None, value, ""))


def detail(expected: bytes, actual: bytes) -> str:
    found = difference(expected, actual, OracleRule())
    return found.detail if found else ""


@pytest.mark.parametrize(
    "tensor",
    [
        COUNT,
        COUNT.T,
        COUNT[:, ::2],
        COUNT[0].expand(5, 4),
        torch.zeros(0, 3),
        torch.tensor(3.0),
        COUNT.to(torch.bfloat16),
        COUNT.half(),
        COUNT.to(torch.int8),
        COUNT.bool(),
        COUNT.to(torch.complex64).conj(),
        COUNT.to(torch.float8_e5m2),
        torch.nn.Parameter(COUNT.clone()),
        COUNT.clone().requires_grad_(),
    ],
    ids=lambda tensor: f"{tensor.dtype}-{tuple(tensor.stride())}",
)
def test_a_tensor_comes_back_as_it_was(tensor: Any) -> None:
    back = again(tensor)
    assert type(back) is type(tensor)
    assert (back.dtype, back.shape, back.stride()) == (tensor.dtype, tensor.shape, tensor.stride())
    assert back.requires_grad == tensor.requires_grad
    assert decode(encode(back)).state[2] == decode(encode(tensor)).state[2]


@pytest.mark.parametrize("value", [torch.float32, torch.device("cpu"), torch.Size([2, 3])], ids=repr)
def test_what_else_torch_hands_out_comes_back(value: Any) -> None:
    assert again(value) == value
    assert type(again(value)) is type(value)


def test_dtypes_are_told_apart() -> None:
    assert detail(outcome(torch.float32), outcome(torch.float64))


@pytest.mark.parametrize(
    "array",
    [
        np.arange(12.0).reshape(3, 4).T,
        np.arange(12.0)[::-1],
        np.asfortranarray(np.eye(3)),
        np.broadcast_to(np.arange(3.0), (2, 3)),
        np.zeros((0, 3)),
        np.array(2.5),
        np.eye(2).view(np.recarray),
        np.array([(1, 2.0)], dtype=[("x", "i4"), ("y", "f8")]),
    ],
    ids=lambda array: f"{array.dtype}-{array.strides}",
)
def test_an_array_comes_back_with_its_layout(array: np.ndarray[Any, Any]) -> None:
    back = again(array)
    assert type(back) is type(array)
    assert back.strides == array.strides
    assert back.flags.writeable == array.flags.writeable
    assert np.array_equal(back, array)


def test_memory_stays_shared_between_numpy_and_torch() -> None:
    array = np.arange(12.0).reshape(3, 4)
    first, row, transposed, tensor = again((array, array[1], array.T, torch.from_numpy(array)[1:]))
    first[1, 0] = 99.0
    assert row[0] == 99.0
    assert transposed[0, 1] == 99.0
    assert tensor[0, 0] == 99.0


def test_bfloat16_is_read_without_torch() -> None:
    node = decode(encode(torch.tensor([1.5, -2.0, float("inf")]).to(torch.bfloat16)))
    assert elements(node).tolist() == [1.5, -2.0, float("inf")]
    assert "1.5" in show(node)


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        (COUNT, COUNT.double()),
        (COUNT, COUNT.reshape(4, 3).clone()),
        (COUNT, COUNT.numpy().copy()),
        (COUNT, COUNT + 1),
        (COUNT, COUNT.clone().requires_grad_()),
        (COUNT[:1].repeat(5, 1), COUNT[:1].expand(5, 4)),
    ],
    ids=["dtype", "shape", "numpy", "elements", "gradient", "overlapping"],
)
def test_tensors_that_differ(expected: Any, actual: Any) -> None:
    assert detail(outcome(expected), outcome(actual))


@pytest.mark.parametrize("make", [torch.clone, lambda t: t.numpy().copy()], ids=["torch", "numpy"])
def test_a_view_of_an_argument_is_no_copy_of_it(make: Any) -> None:
    argument = make(COUNT)
    copied, viewed = outcome(make(COUNT[1:]), (argument,)), outcome(argument[1:], (argument,))
    assert "expected fresh memory, got memory that it shares with argument 1" in detail(copied, viewed)
    assert "got fresh memory" in detail(viewed, copied)


def test_another_part_of_an_argument_is_no_substitute() -> None:
    argument = torch.zeros(4)
    assert "at 0; expected argument 1, at 4" in detail(
        outcome(argument[1:3], (argument,)), outcome(argument[:2], (argument,))
    )


def test_a_read_only_array_is_none_that_can_be_changed() -> None:
    frozen = np.arange(3.0)
    frozen.flags.writeable = False
    assert "read-only" in detail(outcome(np.arange(3.0)), outcome(frozen))


class Lazy(torch.Tensor):
    pass


class Matching(np.ndarray):
    __hash__ = None

    def __eq__(self, other: object) -> bool:  # type: ignore[override]
        return True


def test_a_tensor_of_another_class_is_no_tensor() -> None:
    with pytest.raises(CodecError, match="Lazy"):
        encode(COUNT.as_subclass(Lazy))
    Lazy.__module__, Lazy.__qualname__ = "torch", "Tensor"
    with pytest.raises(CodecError, match="cannot be stored"):
        encode(COUNT.as_subclass(Lazy))


def test_an_array_of_another_class_is_no_array() -> None:
    assert detail(outcome(np.zeros(3)), outcome(np.zeros(3).view(Matching)))


def test_a_tensor_with_methods_of_its_own_is_no_tensor() -> None:
    patched = COUNT.clone()
    patched.cpu = lambda: COUNT
    with pytest.raises(CodecError):
        encode(patched)


SOFTMAX = """\
import torch


def softmax(x):
    out = torch.empty_like(x)
    for i in range(x.shape[0]):
        row = x[i]
        e = torch.exp(row - row.max())
        out[i] = e / e.sum()
    return out
"""
WORKLOAD = """\
import torch

sizes = [4, 256]


def make_input(size, rng):
    return (torch.randn(size, 32, generator=torch.Generator().manual_seed(rng.getrandbits(40))),)
"""


@pytest.mark.corpus
@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
def test_a_torch_function_climbs_the_ladder_within_the_default_limits(tmp_path: Path) -> None:
    (tmp_path / "soft.py").write_text(SOFTMAX)
    (tmp_path / "workload.py").write_text(WORKLOAD)
    (tmp_path / "wrong.py").write_text("import torch\n\n\ndef softmax(x):\n    return torch.zeros_like(x)\n")
    result = whet.verify(
        f"{tmp_path}/soft.py::softmax", candidate=tmp_path / "wrong.py", home=tmp_path / "home", until="differential"
    )
    failed = next(rung for rung in result.rungs if rung.status == "failed")
    assert failed.reason is Reason.WRONG_OUTPUT
    assert "result: element " in failed.detail
