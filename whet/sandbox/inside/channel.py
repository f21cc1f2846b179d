"""The pipe to the world outside: length-prefixed values over descriptors that no child inherits."""

from __future__ import annotations

import os
import resource
import struct

from .codec import framed
from .decode import decode

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself would cost each start 8 ms
    from typing import Any


STARTED = b"\0"
"""What stderr says once the sandbox is made and this program runs in it; all that follows may be a candidate's."""


class Channel:
    """Takes over stdin and stdout for messages, and points descriptors 0, 1 and 2 elsewhere."""

    def __init__(self) -> None:
        os.write(2, STARTED)
        self._in = os.dup(0)
        self._out = os.dup(1)
        null = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(null, descriptor)
        os.close(null)

    def read(self) -> Any:
        """Returns the next message.

        Raises:
            EOFError: the world outside has gone.
        """
        (length,) = struct.unpack("<Q", self._exactly(8))
        return decode(self._exactly(length), no_classes)

    def write(self, message: Any) -> None:
        """Sends a message: a tuple of plain data."""
        for piece in framed(message):
            self._write(piece)

    def send(self, data: bytes) -> None:
        """Sends bytes as they are."""
        self._write(struct.pack("<Q", len(data)) + data)

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self._out, view) :]

    def _exactly(self, length: int) -> bytearray:
        data = bytearray(length)
        view = memoryview(data)
        while view:
            read = os.readv(self._in, [view])
            if not read:
                raise EOFError
            view = view[read:]
        return data


def no_classes(name: str) -> Any:
    """Refuses a class: messages hold plain data."""
    raise ValueError(f"no class {name} in a message")


def set_limits(memory: int, processes: int, output: int) -> None:
    """Sets the limits that the kernel keeps for this process and all that it starts; zero means none.

    Args:
        memory: bytes of address space a process.
        processes: processes and threads of this user.
        output: bytes a file.
    """
    for which, value in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_NPROC, processes),
        (resource.RLIMIT_FSIZE, output),
    ):
        if value:
            resource.setrlimit(which, (value, value))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
