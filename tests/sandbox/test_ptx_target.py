"""Kernels launched through the driver's library: the driver is one of ours, which runs them on the CPU."""

from __future__ import annotations

import ctypes
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from scripted_device import built_driver

from whet.sandbox.inside.calls import timed_pass
from whet.sandbox.inside.capture import Capture
from whet.sandbox.inside.codec import encode
from whet.sandbox.inside.cuda_clock import DeviceError
from whet.sandbox.inside.decode import decode
from whet.sandbox.inside.module_target import POISONED
from whet.sandbox.inside.ptx_target import PtxTarget

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")

# "Machine code" is a letter that says how the one kernel goes wrong.
SCALE = """
  float *in = *(float **)given[0], *out = *(float **)given[1], a = *(float *)given[2];
  int n = *(int *)given[3];
  for (unsigned i = 0; i < blocks * threads; i++) if ((int)i < n) out[i] = a * in[i] + (*image == 'A' ? out[i] : 0);
  if (*image == 'B') out[n] = 0;
  if (*image == 'I' && n) in[0] = 7;
  return 0;
"""
ARGUMENTS = (
    ("in", "float32", "in", "n", 4),
    ("out", "float32", "out", "n", 4),
    ("a", "float32", "scalar", "", 1),
    ("n", "int32", "size", "", 1),
    ("threads", "int32", "scalar", "", 1),
)


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> str:
    return built_driver(tmp_path_factory.mktemp("driver"), "scale", SCALE)


def opened(driver: str, folder: Path, code: str = " ", symbol: str = "scale") -> PtxTarget:
    (folder / "kernel.cubin").write_text(code)
    grid = ("(n + 127) / 128", "1", "1")
    return PtxTarget(str(folder), "kernel.cubin", symbol, ARGUMENTS, grid, ("threads", "1", "1"), "2 * threads", driver)


def launched(target: PtxTarget, numbers: list[float]) -> tuple[Any, Any]:
    """Returns what a launch wrote, and what it left of the rest."""
    payload = encode((numbers, 2.0, len(numbers), 128))
    prepared = target.read(payload)
    _, result = target.call((), prepared, {})
    _, written = target.outcome("value", result)
    return list(memoryview(written.data).cast("f")), target.left(payload, prepared)


@pytest.mark.parametrize("count", [0, 1, 128, 129, 1000])
def test_what_a_kernel_writes_comes_back(driver: str, tmp_path: Path, count: int) -> None:
    numbers = [float(number) for number in range(count)]
    target = opened(driver, tmp_path)
    assert launched(target, numbers) == ([2 * number for number in numbers], None)
    if count:
        asked = (ctypes.c_int * 7).in_dll(ctypes.CDLL(driver), "whet_launched")
        assert list(asked) == [(count + 127) // 128, 1, 1, 128, 1, 1, 256]


def test_memory_of_the_device_is_given_back(driver: str, tmp_path: Path) -> None:
    alive = ctypes.c_int.in_dll(ctypes.CDLL(driver), "whet_alive")
    target = opened(driver, tmp_path)
    before = alive.value
    for _ in range(5):
        launched(target, [1.0])
    assert alive.value == before


def test_a_launch_can_be_made_again(driver: str, tmp_path: Path) -> None:
    target = opened(driver, tmp_path, "I")
    prepared = target.read(encode(([3.0, 4.0], 2.0, 2, 128)))
    for _ in range(2):
        prepared.restore()
        _, result = target.call((), prepared, {})
        assert list(memoryview(target.outcome("value", result)[1].data).cast("f")) == [6.0, 8.0]


def test_launches_of_a_timed_pass_each_find_what_was_given(driver: str, tmp_path: Path) -> None:
    """A kernel that adds to what it finds would show a launch before."""
    target = opened(driver, tmp_path, "A")
    target.arguments = tuple((*one[:2], "inout" if one[0] == "out" else one[2], *one[3:]) for one in ARGUMENTS)
    payloads = [encode(([number] * 3, [0.5] * 3, 2.0, 3, 128)) for number in (1.0, 5.0)]
    before = (ctypes.c_int * 8).in_dll(ctypes.CDLL(driver), "whet_launched")[7]
    total, cpu, _, _, _, *by_cpu, outcomes, events = timed_pass(target, payloads, 7, Capture(1000))
    assert 0 < events <= total
    assert 0 < cpu <= sum(by_cpu)
    found = [memoryview(decode(outcome)[3][1].state[2]).cast("f").tolist() for outcome in outcomes]
    assert found == [[2.5] * 3, [10.5] * 3]
    assert (ctypes.c_int * 8).in_dll(ctypes.CDLL(driver), "whet_launched")[7] == before + 14


@pytest.mark.parametrize(("code", "left"), [("B", {"out": "written beyond its ends"}), ("I", {"in": "changed"})])
def test_what_no_kernel_may_write_is_seen(driver: str, tmp_path: Path, code: str, left: dict[str, str]) -> None:
    assert launched(opened(driver, tmp_path, code), [1.0, 2.0])[1] == left


def test_a_launch_that_breaks_the_context_ends_the_process(driver: str, tmp_path: Path) -> None:
    """A child, for it ends: whatever came next in it would fail for what this launch did."""
    target = opened(driver, tmp_path, "$")
    if (child := os.fork()) == 0:
        launched(target, [1.0])
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == POISONED


def test_the_device_is_asked_how_long_a_launch_took(driver: str, tmp_path: Path) -> None:
    target = opened(driver, tmp_path)
    launched(target, [1.0] * 1000)
    assert 0 < target.clock.spent() < 10**9


@pytest.mark.parametrize(("code", "symbol", "said"), [("!", "scale", "compile"), (" ", "scael", "no kernel")])
def test_code_that_does_not_load_is_told_in_words(
    driver: str, tmp_path: Path, code: str, symbol: str, said: str
) -> None:
    with pytest.raises(DeviceError, match=said):
        opened(driver, tmp_path, code, symbol)
