"""Messages with open descriptors, between the world outside and the supervisor of a container."""

from __future__ import annotations

import socket
import struct

from .codec import encode
from .decode import decode

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself would cost each start 8 ms
    from collections.abc import Sequence
    from typing import Any

HEADER = 8
MOST_DESCRIPTORS = 4
"""File descriptors of a message: three pipes and a tree. With fewer, the kernel drops some; more are never sent."""


class Link:
    """One end of a stream socket. Both ends trust each other; no candidate ever holds one."""

    def __init__(self, connected: socket.socket) -> None:
        self._socket = connected

    def send(self, message: tuple[Any, ...], descriptors: Sequence[int] = ()) -> None:
        """Sends a message; the other end gets descriptors of its own for the same open files."""
        data = encode(message)
        socket.send_fds(self._socket, [struct.pack("<Q", len(data))], descriptors)
        self._socket.sendall(data)

    def receive(self) -> tuple[tuple[Any, ...], list[int]]:
        """Returns the next message and the descriptors that came with it.

        Raises:
            EOFError: the other end has gone.
        """
        header, descriptors, _, _ = socket.recv_fds(self._socket, HEADER, MOST_DESCRIPTORS, socket.MSG_CMSG_CLOEXEC)
        header += self._exactly(HEADER - len(header)) if header else b""
        if not header:
            raise EOFError
        (length,) = struct.unpack("<Q", header)
        message: tuple[Any, ...] = decode(self._exactly(length))
        return message, descriptors

    def close(self) -> None:
        """Ends the connection."""
        self._socket.close()

    def _exactly(self, length: int) -> bytes:
        pieces = []
        while length:
            piece = self._socket.recv(min(length, 1 << 20))
            if not piece:
                raise EOFError
            pieces.append(piece)
            length -= len(piece)
        return b"".join(pieces)
