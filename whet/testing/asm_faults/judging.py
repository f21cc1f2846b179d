"""Has each rung before the proof look at the seeded faults of an instruction set, and says which catches a fault."""

from __future__ import annotations

from collections.abc import Sequence

from whet.core.task import Tolerance
from whet.core.verdict import Reason
from whet.evaluators.abi.calls import CallTests
from whet.evaluators.abi.cases import from_contract
from whet.evaluators.assembly.lint import forbidden_instructions, lint
from whet.evaluators.finding import Fault, Finding, Passed
from whet.sandbox.interpreter import Interpreter
from whet.sandbox.protocol import Sandbox
from whet.sandbox.toolchains.driver import Driver
from whet.sandbox.toolchains.isas import ISAS
from whet.sandbox.toolchains.native import uninvited
from whet.testing.asm_faults.table import BUILD, CALLS, SCREEN, STEPS, Row, reference, signature
from whet.testing.native_objects import assembled, objects

SEED = 20_261_122


class FaultBench:
    """Judges the rows of one instruction set, whose tools are installed.

    Args:
        sandbox: where they are assembled and called.
        interpreter: runs our program inside.
        isa: the instruction set.
        rows: those of it that may be asked about.
    """

    def __init__(self, sandbox: Sandbox, interpreter: Interpreter, isa: str, rows: Sequence[Row]) -> None:
        self._sandbox = sandbox
        self._interpreter = interpreter
        self._isa = isa
        self._made = assembled(sandbox, interpreter, isa, {row.name: row.text for row in rows}, "s")
        texts = {row.routine: reference(row.routine) for row in rows}
        self._references = objects(sandbox, interpreter, isa, texts, "c")
        self._tests: dict[str, CallTests] = {}

    def climbed(self, row: Row) -> tuple[str, Finding]:
        """Returns which rung catches a row first, and its verdict; an empty name with the last one where none does."""
        if fault := lint(row.text, row.routine, row.isa):
            return SCREEN, fault
        made = self._made[row.name]
        if said := uninvited(made.undefined, signature(row.routine).externs):
            return BUILD, Fault(Reason.BUILD_ERROR, said)
        if fault := forbidden_instructions(made.listing, row.isa):
            return BUILD, fault
        found = self.called(row)
        if isinstance(found, Passed):
            return "", found
        stepped = isinstance(found, Fault) and found.evidence.get("stepped", False)
        return STEPS if stepped else CALLS, found

    def called(self, row: Row) -> Finding:
        """Returns what the calls of a row come to, whatever an earlier rung would say."""
        return self._of(row.routine).check(self._made[row.name].content)

    def _of(self, routine: str) -> CallTests:
        if routine not in self._tests:
            contract = signature(routine)
            driver = Driver(self._sandbox, self._interpreter, ISAS[self._isa], contract.externs)
            cases = from_contract(contract, SEED, specials=True)
            given = (driver, contract, routine, self._references[routine], cases, SEED, Tolerance())
            self._tests[routine] = CallTests(*given)
        return self._tests[routine]
