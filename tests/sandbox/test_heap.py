"""The heap of a process that calls on large tensors."""

from __future__ import annotations

import subprocess
import sys

import pytest

REUSE = """
import ctypes
from whet.sandbox.inside.heap import keep_heap
{keep}
libc = ctypes.CDLL(None)
libc.malloc.restype = libc.memset.restype = ctypes.c_void_p
libc.malloc.argtypes, libc.free.argtypes = [ctypes.c_size_t], [ctypes.c_void_p]
libc.memset.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]
SIZE = 8 << 20
first = libc.malloc(SIZE)
libc.memset(first, 255, SIZE)
libc.free(first)
second = libc.malloc(SIZE)
print(ctypes.string_at(second + SIZE // 2, 4).hex())
"""


@pytest.mark.parametrize(("keep", "found"), [("keep_heap()", "ffffffff"), ("", "00000000")], ids=["kept", "by default"])
def test_a_large_block_is_handed_out_again_as_it_was_left(keep: str, found: str) -> None:
    came = subprocess.run(
        [sys.executable, "-c", REUSE.format(keep=keep)], capture_output=True, text=True, check=True, timeout=60
    )
    assert came.stdout.strip() == found
