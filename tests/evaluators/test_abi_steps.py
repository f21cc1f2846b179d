"""Single steps of a native function: what they show counts where a second process shows it too."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from whet.core.task import Tolerance
from whet.core.verdict import Reason
from whet.evaluators.abi.calls import CallTests
from whet.evaluators.abi.cases import from_contract
from whet.evaluators.finding import Fault, Finding, Passed
from whet.evaluators.signature import SignatureTable, read_signature
from whet.sandbox.backends import open_sandbox
from whet.sandbox.interpreter import find_interpreter
from whet.sandbox.protocol import Sandbox
from whet.sandbox.toolchains.driver import Driver, DriverRun
from whet.sandbox.toolchains.isas import ISAS
from whet.testing.native_objects import objects

INTERPRETER = find_interpreter(None)
CONTRACT = {"prototype": "int64_t sum(const int32_t *a, int64_t n)", "a": {"length": "n"}, "n": {"role": "size"}}
SUM = read_signature(SignatureTable.model_validate(CONTRACT), "sum", "whet.toml")
SUM_C = (
    "#include <stdint.h>\n"
    "int64_t sum(const int32_t *a, int64_t n) { int64_t s = 0; for (int64_t i = 0; i < n; i++) s += a[i]; return s; }"
)
RIGHT = SUM_C.replace("i = 0; i < n; i++) s += a[i]", "i = n; i-- > 0;) s += a[i]")
SPILLING = SUM_C.replace(
    "return s;", '__asm__ volatile("mov %0, -256(%%rsp)\\n\\tmov -256(%%rsp), %0" : "+r"(s) : : "memory"); return s;'
)


class OnceAnother(Driver):
    """Runs another object in the place of one, for its first run: as if single steps had gone wrong there."""

    def __init__(self, sandbox: Sandbox, one: bytes, other: bytes) -> None:
        super().__init__(sandbox, INTERPRETER, ISAS["x86_64"])
        self.left = {one: other}

    def run(self, subject: bytes, *arguments: Any, **keywords: Any) -> DriverRun:
        return super().run(self.left.pop(subject, subject), *arguments, **keywords)


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    if shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    opened = open_sandbox("bubblewrap", False)
    yield opened
    opened.close()


def test_what_single_steps_show_once_is_held_against_nobody(sandbox: Sandbox) -> None:
    built = objects(sandbox, INTERPRETER, "x86_64", {"ours": SUM_C, "right": RIGHT, "wrong": SPILLING}, "c")
    cases = from_contract(SUM, 1, specials=False, count=400)

    def found(candidate: str, first: str) -> Finding:
        driver = OnceAnother(sandbox, built[candidate], built[first])
        return CallTests(driver, SUM, "sum", built["ours"], cases, 1, Tolerance()).check(built[candidate])

    right, wrong = found("right", "wrong"), found("wrong", "wrong")
    assert isinstance(right, Passed), right
    assert isinstance(wrong, Fault)
    assert (wrong.reason, wrong.evidence["stepped"]) == (Reason.ABI_VIOLATION, True)
