"""Memory between pages that nobody may touch: a read or write past its end, or before its start, ends the process."""

from __future__ import annotations

import ctypes
import mmap

PAGE = mmap.PAGESIZE
NONE, READ, WRITE = 0, 1, 2
PRIVATE_ANONYMOUS = 0x22
FAILED = ctypes.c_void_p(-1).value

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
_libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
_libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]


class Guarded:
    """Bytes of their own, flush with one of the pages around them as far as their alignment lets them.

    Attributes:
        address: of the first byte.
        size: in bytes.

    Args:
        size: in bytes; may be 0, and then the address may not be touched at all.
        align: bytes that the address is a multiple of; a power of two up to a page.
        at_end: whether they end before the page behind them, or else begin after the page in front.
    """

    def __init__(self, size: int, align: int, at_end: bool) -> None:
        self.size = size
        self._open = (size + PAGE - 1) // PAGE * PAGE
        base = _libc.mmap(None, self._open + 2 * PAGE, NONE, PRIVATE_ANONYMOUS, -1, 0)
        if base in (None, FAILED):
            raise MemoryError
        self._base: int = base
        self._start = base + PAGE
        self.address = self._start + ((self._open - size) // align * align if at_end else 0)
        self.allow(writing=True)

    def allow(self, writing: bool) -> None:
        """Lets it be written, or read only."""
        if self._open and _libc.mprotect(self._start, self._open, READ | WRITE if writing else READ):
            raise MemoryError

    def write(self, data: bytes) -> None:
        """Fills it from its start."""
        ctypes.memmove(self.address, data, len(data))

    def read(self) -> bytes:
        """Returns its bytes."""
        return ctypes.string_at(self.address, self.size) if self.size else b""

    def close(self) -> None:
        """Gives it back."""
        if self._base:
            _libc.munmap(self._base, self._open + 2 * PAGE)
            self._base = 0

    def __del__(self) -> None:
        self.close()
