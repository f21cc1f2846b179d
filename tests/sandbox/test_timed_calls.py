"""Timed calls of a Python function: a process tells the time of the function, without what surrounds a call."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from whet.sandbox.inside import calls, invocation
from whet.sandbox.inside.calls import TRIALS, surrounding, timed_pass
from whet.sandbox.inside.capture import Capture
from whet.sandbox.inside.codec import encode
from whet.sandbox.inside.invocation import Target

TICK = 100
"""Nanoseconds between two looks at the clock, with nothing in between."""


class Clock:
    """A clock that goes on by itself with each look, and by what a call asks for."""

    def __init__(self) -> None:
        self.now = 0

    def __call__(self) -> int:
        self.now += TICK
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[Clock]:
    made = Clock()
    monkeypatch.setattr(invocation, "_clock", made)
    monkeypatch.setattr(calls, "_cpu", made)
    monkeypatch.setattr(calls, "spent_so_far", lambda: (made(), 0, 0))
    calls._surrounding.clear()
    yield made
    calls._surrounding.clear()


def target_of(folder: Path, body: str, clock: Clock) -> Target:
    (folder / "answer.py").write_text(f"def f(spend):\n    {body}\n")
    made = Target(str(folder), "answer.py", "f")
    made.module.clock = clock
    return made


def inside(target: Target, *spends: int) -> int:
    told, *_ = timed_pass(target, [encode((one,)) for one in spends], 0, Capture(100))
    return int(told)


def test_what_surrounds_a_call_is_not_told_as_its_own(tmp_path: Path, clock: Clock) -> None:
    target = target_of(tmp_path, "clock.now += spend", clock)
    assert surrounding() == (TICK, 2 * TICK + TICK // TRIALS)
    assert inside(target, 350, 20_000) == 20_350


def test_a_call_of_nothing_takes_nothing_and_never_less(tmp_path: Path, clock: Clock) -> None:
    assert inside(target_of(tmp_path, "pass", clock), 1, 2, 3) == 0
    assert inside(target_of(tmp_path, "clock.now -= spend", clock), 50) == 0


def test_the_least_of_many_calls_of_nothing_counts(clock: Clock) -> None:
    first = surrounding()
    clock.now += 10**9
    assert surrounding() == first, "it is looked for once a process"


def test_cpu_time_of_a_pass_is_that_of_its_calls(tmp_path: Path, clock: Clock) -> None:
    target = target_of(tmp_path, "clock.now += spend", clock)
    inputs = [encode((one,)) for one in (350, 20_000)]
    _, cpu, *_ = timed_pass(target, inputs, 0, Capture(100))
    assert cpu == 20_350 + TICK - 2 * (TICK // TRIALS), "but for the look at the clock before the first"
    _, cpu, *_ = timed_pass(target, inputs, 0, Capture(100), called=[0])
    assert cpu == 350 + TICK - 2 * (TICK // TRIALS), "nor are inputs that are not called on"


def test_a_process_of_a_function_imports_no_dear_module_at_its_start() -> None:
    inside = Path(calls.__file__).parent
    code = f"import sys; sys.path.insert(0, {str(inside.parent)!r}); import inside.calls, inside.native_target"
    telling = f"{code}; print(*sorted({{'re', 'enum', 'functools', 'contextlib', 'typing'}} & set(sys.modules)))"
    ran = subprocess.run([sys.executable, "-I", "-S", "-B", "-c", telling], capture_output=True, text=True, check=True)
    assert ran.stdout == "\n"
