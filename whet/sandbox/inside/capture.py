"""What a function prints, kept instead of written."""

from __future__ import annotations

import io


class Capture(io.TextIOBase):
    """What the function prints, each call up to a limit.

    Attributes:
        heard: whether it is kept; else it is dropped, whatever its length.
    """

    def __init__(self, limit: int) -> None:
        self.parts: list[str] = []
        self.limit = self.left = limit
        self.heard = True

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if not self.heard:
            return len(text)
        self.left -= len(text)
        if self.left < 0:
            raise OSError("too much output")
        self.parts.append(text)
        return len(text)

    def take(self) -> str:
        text = "".join(self.parts)
        self.parts.clear()
        self.left = self.limit
        return text
