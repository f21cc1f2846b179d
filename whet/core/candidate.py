"""A full replacement of the target."""

from __future__ import annotations

import difflib
import hashlib
from dataclasses import dataclass
from functools import lru_cache


@lru_cache(maxsize=64)  # a round asks for those of its candidates again and again
def content_id(source: str) -> str:
    """Returns the SHA-256 of the exact bytes of a source text."""
    return hashlib.sha256(source.encode("utf-8")).hexdigest()


def _lines(text: str) -> list[str]:
    # `str.splitlines` also divides at form feeds and the like, which a patch cannot express.
    *lines, last = text.split("\n")
    return [f"{line}\n" for line in lines] + ([last] if last else [])


@dataclass(frozen=True, slots=True)
class Candidate:
    """A rewrite of the target's file.

    Attributes:
        source: the whole text of the file.
        parent: id of the source that it was made from, if known.
        origin: who made it: a model's name, ``catalogue:<edit>``, ``file``, ``baseline``.
        labels: what kind of change it is (law 8).
        note: its author's reason, in a line or two.
    """

    source: str
    parent: str | None = None
    origin: str = "file"
    labels: tuple[str, ...] = ()
    note: str = ""

    @property
    def id(self) -> str:
        """The SHA-256 of its exact bytes."""
        return content_id(self.source)

    def diff(self, baseline: str, name: str) -> str:
        """Returns the unified diff from the baseline's text, with ``a/`` and ``b/`` names."""
        lines = difflib.unified_diff(
            _lines(baseline),
            _lines(self.source),
            fromfile=f"a/{name}",
            tofile=f"b/{name}",
        )
        return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
