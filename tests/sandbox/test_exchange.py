"""Several calls in one exchange: an answer each, a limit each, and whatever goes wrong is told of its own input."""

from __future__ import annotations

import shutil
import struct
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.core.options import Options
from whet.core.verdict import Reason
from whet.evaluators.artifacts import Artifact, Builder
from whet.evaluators.finding import Fault
from whet.evaluators.inputs.source import Input
from whet.evaluators.pairs import BYTES_AT_ONCE, MOST_AT_ONCE, SECONDS_AT_ONCE, ComparedInput, Side, at_once
from whet.evaluators.processes import CallResult
from whet.evaluators.targets import read_task
from whet.sandbox.backends import open_sandbox
from whet.sandbox.inside.codec import encode
from whet.sandbox.inside.decode import decode
from whet.sandbox.interpreter import find_interpreter

TARGET = "def f(x):\n    return x\n"
STATE = "n = 0\ndef f(x):\n    global n\n    n += 1\n"
SAY = """
import os, struct
def say(data):
    os.write(4, struct.pack("<Q", len(data)) + data)
"""


@pytest.fixture(scope="module")
def builder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Builder]:
    if shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    folder: Path = tmp_path_factory.mktemp("exchange")
    (folder / "target.py").write_text(TARGET)
    (folder / "workload.py").write_text("sizes = [1, 2]\ndef make_input(size, rng):\n    return (size,)\n")
    sandbox = open_sandbox("bubblewrap", unsafe=False)
    yield Builder(read_task(f"{folder}/target.py::f", Options()), sandbox, find_interpreter())
    sandbox.close()


def asked(builder: Builder, source: str, *given: object, seconds: float = 5.0, way: str = "call") -> list[CallResult]:
    """Returns the answers of a source text to arguments, all of them asked at once."""
    artifact = builder.build(source)
    assert isinstance(artifact, Artifact)
    with closing(Side(artifact, 0)) as side:
        return list(side.calls([encode((one,)) for one in given], seconds, way))


def shown(answers: list[CallResult]) -> list[object]:
    """Returns the result of each, or the reason of its fault."""
    return [answer.reason if isinstance(answer, Fault) else decode(answer[0])[3] for answer in answers]


def test_threads_note_what_they_built_one_at_a_time(builder: Builder) -> None:
    own = Builder(builder.task, builder.sandbox, builder.interpreter)

    class Guarded(dict[str, Artifact | Fault]):
        def __setitem__(self, name: str, built: Artifact | Fault) -> None:
            assert own._lock.locked(), "another thread may look for what to discard"
            super().__setitem__(name, built)

    own._built = Guarded()
    assert own.build(TARGET) is own.build(TARGET)


def test_each_input_has_its_answer_in_order_and_its_seconds(builder: Builder) -> None:
    answers = asked(builder, "import time\ndef f(x):\n    time.sleep(x / 10)\n    return x\n", 3, 0, 5)
    assert shown(answers) == [3, 0, 5]
    spent = [answer[1] for answer in answers if not isinstance(answer, Fault)]
    assert spent[0] >= 0.3 > spent[1]
    assert spent[2] >= 0.5


def test_all_of_one_exchange_share_a_process(builder: Builder) -> None:
    assert shown(asked(builder, f"{STATE}    return n\n", *"abcd")) == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("harm", "reason"),
    [
        ("import os; os._exit(3)", Reason.CRASH),
        ("import os; os.kill(os.getpid(), 11)", Reason.CRASH),
        ("while True: pass", Reason.TIMEOUT),
        ("import os; os.write(4, b'?' * 3); os._exit(0)", Reason.CRASH),
        ("import os, struct; os.write(4, struct.pack('<Q', 1 << 60))", Reason.OUTPUT_FLOOD),
        ("import os, struct; os.write(4, struct.pack('<Q', 3) + b'abc'); os._exit(0)", Reason.CHEATING),
        ("import os, struct; os.write(4, struct.pack('<Q', 8) + b'\\xff' * 8); os._exit(0)", Reason.CHEATING),
    ],
)
def test_harm_in_the_middle_is_told_of_its_input_and_the_rest_meet_a_new_process(
    builder: Builder, harm: str, reason: Reason
) -> None:
    source = f"{STATE}    if x == 'bad':\n        {harm}\n    return n\n"
    assert shown(asked(builder, source, "a", "b", "bad", "c", "d", seconds=1.0)) == [1, 2, reason, 1, 2]


@pytest.mark.corpus
def test_each_call_has_the_limit_for_itself(builder: Builder) -> None:
    slow = "import time\ndef f(x):\n    time.sleep(2)\n    return x\n"
    assert shown(asked(builder, slow, 1, 2, 3, 4, seconds=6.0)) == [1, 2, 3, 4]


def test_an_answer_too_many_is_found_at_the_next_question(builder: Builder) -> None:
    outcome = encode(("value", (("a",), {}), None, 1, ""))
    forged = struct.pack("<Q", 1) + outcome
    artifact = builder.build(f"{SAY}\ndef f(x):\n    if x == 'a': say({forged!r})\n    return 1\n")
    assert isinstance(artifact, Artifact)
    with closing(Side(artifact, 0)) as side:
        first = list(side.calls([encode((one,)) for one in "ab"], 5.0))
        assert shown(first) == [1, 1]
        assert first[0] == (outcome, 1e-9)
        # The honest answer is taken for that to the next input, though what it says of its arguments is of its own.
        assert decode(first[1][0])[1][0] == ("a",)
        time.sleep(1.0)  # until the second honest answer, which is one too many, has arrived
        assert shown(list(side.calls([encode(("c",))], 5.0))) == [Reason.SANDBOX_VIOLATION]


def test_what_is_said_for_later_inputs_is_judged_as_theirs(builder: Builder) -> None:
    forged = struct.pack("<Q", 1) + b"anything"
    source = f"{SAY}\ndef f(x):\n    for _ in range(3): say({forged!r})\n    os._exit(0)\n"
    answers = asked(builder, source, "a", "b", "c", "d", seconds=1.0)
    assert [answer if isinstance(answer, Fault) else answer[0] for answer in answers[:3]] == [b"anything"] * 3


@pytest.mark.parametrize("said", ["0", "0.5", "10**40", "-(10**40)"])
def test_a_clock_that_lies_is_found(builder: Builder, said: str) -> None:
    reach = "import sys\ndef f(x):\n    for name, module in list(sys.modules.items()):\n"
    source = f"{reach}        if name == 'inside.invocation': module._clock = lambda: {said}\n    return x\n"
    assert Reason.CHEATING in shown(asked(builder, source, "a", "b"))


def test_whoever_does_not_take_all_answers_ends_the_process(builder: Builder) -> None:
    artifact = builder.build(f"{STATE}    return n\n")
    assert isinstance(artifact, Artifact)
    with closing(Side(artifact, 0)) as side:
        with closing(side.calls([encode((one,)) for one in "abcd"], 5.0)) as answers:
            assert shown([next(answers), next(answers)]) == [1, 2]
        assert shown(list(side.calls([encode(("e",))], 5.0))) == [1]


def test_a_result_is_changed_between_two_calls(builder: Builder) -> None:
    keeps = "kept = {}\ndef f(x):\n    return kept.setdefault(x, [x])\n"
    assert shown(asked(builder, keeps, "a", "b", way="mutate")) == [
        ["a", "changed by the caller"],
        ["b", "changed by the caller"],
    ]
    assert shown(asked(builder, "def f(x):\n    return [x]\n", "a", way="mutate")) == [["a"]]


def test_outcomes_larger_than_a_pipe_come_whole(builder: Builder) -> None:
    sizes = (10, 300_000, 0, 70_000, 1)
    answers = asked(builder, "def f(x):\n    return 'x' * x\n", *sizes)
    assert [len(str(one)) for one in shown(answers)] == list(sizes)


@given(
    st.lists(st.tuples(st.integers(0, BYTES_AT_ONCE), st.floats(0, 2 * SECONDS_AT_ONCE))),
    st.integers(1, MOST_AT_ONCE),
)
def test_what_is_asked_at_once_is_bounded(sizes: list[tuple[int, float]], first: int) -> None:
    met = [ComparedInput(Input(str(number), bytes(size)), b"", seconds) for number, (size, seconds) in enumerate(sizes)]
    groups = list(at_once(met, first))
    assert [one for group in groups for one in group] == met
    for group in groups:
        assert len(group) <= MOST_AT_ONCE
        alone = len(group) == 1
        assert alone or sum(len(one.item.payload) for one in group) <= BYTES_AT_ONCE
        assert alone or sum(one.seconds for one in group) <= SECONDS_AT_ONCE * (1 + 1e-9)
    assert not groups or len(groups[0]) <= first
