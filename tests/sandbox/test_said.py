"""What a program says on stderr: all of a little, both ends of much."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from whet.sandbox.inside.programs import MOST_SAID, both_ends

HALF = MOST_SAID // 2


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (b"", b""),
        (b"x" * MOST_SAID, b"x" * MOST_SAID),
        (
            b"first" + b"x" * MOST_SAID + b"last",
            b"first" + b"x" * (HALF - 5) + b"\n[...]\n" + b"x" * (HALF - 4) + b"last",
        ),
    ],
)
def test_of_much_the_first_words_are_kept_and_the_last(tmp_path: Path, said: bytes, kept: bytes) -> None:
    (tmp_path / "stderr").write_bytes(said)
    descriptor = os.open(tmp_path / "stderr", os.O_RDONLY)
    try:
        assert both_ends(descriptor) == kept
    finally:
        os.close(descriptor)
