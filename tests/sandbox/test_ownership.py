"""Whose a leftover is: told by more than a process number, which others have too."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from whet.sandbox.ownership import is_gone, owner

SAID = "from whet.sandbox.ownership import owner; print(owner(), flush=True); input()"


def test_a_process_is_gone_once_it_has_ended() -> None:
    process = subprocess.Popen([sys.executable, "-c", SAID], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        name = process.stdout.readline().strip()
        assert name.split(":")[-2] == str(process.pid)
        assert not is_gone(name)
        process.stdin.close()
    assert is_gone(name)


def test_a_number_that_was_given_again_is_another_process() -> None:
    place = owner().rpartition(":")[0]
    assert not is_gone(owner())
    assert is_gone(f"{place}:0")


@pytest.mark.parametrize("part", [0, 1])
def test_nothing_is_known_of_another_machine_or_another_namespace(part: int) -> None:
    words = owner().split(":")
    words[part] = "other"
    words[3] = "0"
    assert not is_gone(":".join(words))


@pytest.mark.parametrize(
    "name",
    ["", "12345", ":12345:0", str(os.getpid()), "a:b:c:d"],
    ids=["nothing", "number", "no boot", "own number", "words"],
)
def test_what_is_no_owner_is_left_alone(name: str) -> None:
    assert not is_gone(name)
