"""The way by which results come back: a candidate that speaks on it is believed in nothing, and crashes nothing.

A function under test shares its process with the program that calls it, so it can find the pipes and write there
what it likes. It cannot speak first, and what it says is data of a known length, checked for form.
"""

from __future__ import annotations

import shutil
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

import whet
from whet.core.options import Options
from whet.core.task import DEFAULT_LIMITS, OracleRule
from whet.core.verdict import Reason
from whet.evaluators.artifacts import Builder
from whet.evaluators.compare import difference
from whet.evaluators.finding import Fault
from whet.evaluators.processes import Pass
from whet.evaluators.targets import read_task
from whet.sandbox.backends import BACKENDS
from whet.sandbox.inside.codec import CodecError, encode
from whet.sandbox.inside.decode import decode
from whet.sandbox.inside.loading import resolver
from whet.sandbox.interpreter import find_interpreter
from whet.sandbox.protocol import Sandbox

ONE = b"*" + struct.pack("<Q", 1)
SIZE = struct.pack("<Q", 1 << 40)
DEEP = (b"l" + ONE) * 60_000 + b"N"
NAN = float("nan")
SPEAKS = """
import os, stat, struct
def say(data):
    for name in os.listdir("/proc/self/fd"):
        try:
            if int(name) > 2 and stat.S_ISFIFO(os.fstat(int(name)).st_mode):
                os.write(int(name), struct.pack("<Q", len(data)) + data)
        except OSError:
            pass
    os._exit(0)
"""
ANSWERS = {
    "no-tuple": encode(["outcome", b"", 1]),
    "empty": encode(()),
    "nothing": b"",
    "no-word": encode((1, 2, 3)),
    "too-short": encode(("outcome",)),
    "too-long": encode(("outcome", b"x", 1, 2)),
    "types": encode(("outcome", 10**30, b"1")),
    "not-a-number": encode(("outcome", b"x", NAN)),
    "negative": encode(("outcome", b"x", -5)),
    "endless": encode(("outcome", b"x", 10**4000)),
    "junk": b"\xff" * 100,
    "more-behind": encode(("outcome", b"x", 1)) + b"N",
    "cut": encode(("outcome", b"x" * 100, 1))[:-50],
    "lying-list": b"t*" + SIZE,
    "lying-bytes": b"b" + SIZE,
    "lying-integers": b"lq" + SIZE,
    "deep": b"t" + DEEP,
    "deep-columns": b"t" + (b"#" + struct.pack("<Q", 1)) * 20_000,
    "reference": b"r" + SIZE,
    "bad-text": b"s" + struct.pack("<Q", 2) + b"\xff\xff",
}
"""What a candidate says instead of an outcome."""

OUTCOMES = {
    "other-kind": encode(("passed", None, None, 1, "")),
    "parts": encode(("value", 1)),
    "raise-without-type": encode(("raise", None, None, 5, "")),
    "path-for-a-name": encode(("value", None, None, Exception("../../../../etc/passwd"), "")),
    "path-for-a-type": b"t*"
    + struct.pack("<Q", 5)
    + encode("value")
    + b"NN"
    + b"o"
    + b"".join(struct.pack("<Q", len(word)) + word for word in (b"exception", b"../../etc/passwd:x"))
    + encode(())
    + encode(""),
    "digits": encode(("value", ((), {}), None, 10**6000, "")),
    "deep": DEEP,
}
"""What it says is an outcome, in an answer that has the right form."""


@pytest.fixture(scope="module", params=list(BACKENDS))
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    if request.param == "docker":
        request.getfixturevalue("docker_host")
    elif shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    made = BACKENDS[request.param]()
    yield made
    made.close()


def builder(sandbox: Sandbox, folder: Path) -> Builder:
    (folder / "target.py").write_text("def f():\n    return 1\n")
    (folder / "workload.py").write_text("sizes = [1, 2]\ndef make_input(size, rng):\n    return ()\n")
    return Builder(read_task(f"{folder}/target.py::f", Options()), sandbox, find_interpreter())


def answer(sandbox: Sandbox, folder: Path, body: str, timed: bool = False) -> object:
    """Returns what whet makes of a candidate's one call, or of its one timed pass."""
    artifact = builder(sandbox, folder).build(SPEAKS + body)
    assert not isinstance(artifact, Fault)
    process = artifact.start()
    if isinstance(process, Fault):
        return process
    try:
        return process.timed([encode(())], 5.0) if timed else process.call(encode(()), 5.0)
    finally:
        process.close()


@pytest.mark.parametrize("timed", [False, True], ids=["call", "pass"])
@pytest.mark.parametrize("name", list(ANSWERS))
def test_a_forged_answer_is_a_fault_of_its_candidate(sandbox: Sandbox, tmp_path: Path, name: str, timed: bool) -> None:
    found = answer(sandbox, tmp_path, f"def f():\n    say({ANSWERS[name]!r})\n", timed)
    assert isinstance(found, Fault), found
    assert found.reason in (Reason.CHEATING, Reason.SANDBOX_VIOLATION)


@pytest.mark.parametrize("said", [("error",), ("error", 1, 2), ("error", "a", "b", "c"), ("ok", 1), ("no",)], ids=repr)
def test_a_forged_answer_while_loading_is_one_too(sandbox: Sandbox, tmp_path: Path, said: tuple[object, ...]) -> None:
    found = answer(sandbox, tmp_path, f"say({encode(said)!r})\n")
    assert isinstance(found, Fault), found
    assert found.reason is Reason.CHEATING


@pytest.mark.parametrize("name", list(OUTCOMES))
def test_a_forged_outcome_is_judged_as_any_other(sandbox: Sandbox, tmp_path: Path, name: str) -> None:
    said = encode(("outcome", OUTCOMES[name], 1))
    found = answer(sandbox, tmp_path, f"def f():\n    say({said!r})\n")
    assert isinstance(found, tuple), found
    expected = encode(("value", ((), {}), None, 1, ""))
    assert difference(expected, found[0], OracleRule()) is not None


@pytest.mark.parametrize("count", [0, 2, 1000])
def test_outcomes_that_nobody_asked_for_are_counted(sandbox: Sandbox, tmp_path: Path, count: int) -> None:
    found = answer(
        sandbox, tmp_path, f"def f():\n    say({encode(('done', 1, 1, 0, 0, 0, 0, 0, [b'x'] * count))!r})\n", timed=True
    )
    assert isinstance(found, Pass)
    assert len(found.outcomes) == count  # the measurement compares this with its inputs


def test_an_answer_longer_than_the_limit_is_not_read(sandbox: Sandbox, tmp_path: Path) -> None:
    length = DEFAULT_LIMITS.output + (1 << 30)
    body = f"def f():\n    os.write(4, struct.pack('<Q', {length}) + b'x')\n    while True:\n        pass\n"
    found = answer(sandbox, tmp_path, body)
    assert isinstance(found, Fault)
    assert found.reason is Reason.OUTPUT_FLOOD


def test_a_word_before_the_question_ends_the_process(sandbox: Sandbox, tmp_path: Path) -> None:
    data = encode(("outcome", encode(("value", ((), {}), None, 1, "")), 1))
    frames = (struct.pack("<Q", len(data)) + data) * 2
    process = builder(sandbox, tmp_path).build(f"import os\ndef f():\n    os.write(4, {frames!r})\n")
    assert not isinstance(process, Fault)
    started = process.start()
    assert not isinstance(started, Fault)
    try:
        first = started.call(encode(()), 5.0)
        assert isinstance(first, tuple), first
        second = started.call(encode(()), 5.0)
    finally:
        started.close()
    assert isinstance(second, Fault)
    assert second.reason is Reason.SANDBOX_VIOLATION


def test_a_process_that_takes_the_questions_over_is_believed_in_nothing(sandbox: Sandbox, tmp_path: Path) -> None:
    body = """
import time
def f():
    if os.fork():
        os._exit(0)  # the program that calls it is gone: its child reads the next question, and answers
    while True:
        (length,) = struct.unpack("<Q", os.read(3, 8))
        while length:
            length -= len(os.read(3, length))
        data = DATA
        os.write(4, struct.pack("<Q", len(data)) + data)
"""
    data = encode(("outcome", encode(("value", ((), {}), None, 2, "")), 1))
    found = answer(sandbox, tmp_path, body.replace("DATA", repr(data)))
    # Nobody answers the question of this call: the program that held it has ended.
    assert isinstance(found, Fault), found
    assert found.reason in (Reason.CRASH, Reason.TIMEOUT)


def test_the_place_that_checks_an_outcome_runs_nothing_for_it(tmp_path: Path) -> None:
    def word(text: bytes) -> bytes:
        return struct.pack("<Q", len(text)) + text

    mark = tmp_path / "ran"
    for name in (b"os:system", b"subprocess:Popen", b"builtins:exec"):
        forged = b"o" + word(b"exception") + word(name) + encode((f"touch {mark}",))
        with pytest.raises(CodecError):
            decode(forged, resolver(None))
    assert not mark.exists()


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
def test_a_forger_is_rejected_by_the_ladder(tmp_path: Path) -> None:
    (tmp_path / "target.py").write_text("def f(n):\n    return sum(i * i for i in range(n))\n")
    (tmp_path / "workload.py").write_text(
        "sizes = [10, 20000, 40000]\ndef make_input(size, rng):\n    return (size + rng.randrange(9),)\n"
    )
    said = encode(("error",))
    (tmp_path / "candidate.py").write_text(f"{SPEAKS}say({said!r})\ndef f(n):\n    return 1\n")
    result = whet.verify(
        f"{tmp_path}/target.py::f", candidate=tmp_path / "candidate.py", home=tmp_path / "home", sandbox="bubblewrap"
    )
    assert [rung.reason for rung in result.rungs if rung.status == "failed"] == [Reason.CHEATING]
