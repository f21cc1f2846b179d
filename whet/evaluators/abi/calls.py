"""The rung of native functions: candidates against a reference, call by call, with the ABI and memory watched.

The reference's calls are made once for a deck of cases, apart from any candidate; all candidates of a round may share
it. A candidate runs in a process that holds cases and no verdict.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from whet.core.signature import Role, Signature
from whet.core.task import Tolerance
from whet.core.verdict import Reason
from whet.evaluators.abi.cases import Case
from whet.evaluators.abi.conventions import CONVENTIONS
from whet.evaluators.abi.deck import Deck, deal
from whet.evaluators.abi.floats import FloatRule
from whet.evaluators.abi.judging import Judge
from whet.evaluators.abi.records import DriverOutput, told
from whet.evaluators.abi.stepping import chosen, logged_counts, moved
from whet.evaluators.abi.truth import Known, Magnitudes, WideReference
from whet.evaluators.finding import Fault, Finding, Passed, Skipped
from whet.evaluators.inputs.source import derive
from whet.sandbox.toolchains.driver import Driver
from whet.sandbox.toolchains.isas import ISAS

SECONDS = 20.0
"""For all calls of a candidate together."""


def lacking(isa: str) -> Skipped | None:
    """Returns why functions of an instruction set cannot be called on this machine; None where they can."""
    missing = ISAS[isa].lacking()
    return Skipped(Reason.TOOL_MISSING, str(missing)) if missing else None


class CallTests:
    """Tests candidates on one deck of cases. Safe for several threads.

    Args:
        driver: calls functions of the instruction set.
        signature: the contract.
        symbol: of the function, in every object.
        reference: a relocatable object that holds the reference.
        cases: drawn from a secret seed, after the candidates exist.
        seed: of registers, nonces and overlaps: secret too.
        tolerance: for floats.
        floats: judges an error ratio by the reference's own error; None judges it by a few units of the last place.
        wide: an object that holds the reference with wider floats (`whet.evaluators.floats.native_reference.widened`)
            where the contract is `whet.evaluators.abi.truth.widenable`; empty for none.
        seconds: that all calls of one candidate may take together.

    Raises:
        BaselineError: the reference itself breaks the ABI or its contract.
        UnfitError: more arguments than the driver has places for.
    """

    def __init__(
        self,
        driver: Driver,
        signature: Signature,
        symbol: str,
        reference: bytes,
        cases: Sequence[Case],
        seed: int,
        tolerance: Tolerance,
        floats: FloatRule | None = None,
        wide: bytes = b"",
        seconds: float = SECONDS,
    ) -> None:
        self._driver = driver
        self._symbol = symbol
        self._seconds = seconds
        self._signature = signature
        self._calls = len(cases)
        convention = CONVENTIONS[driver.isa.name]
        steps = chosen(signature, cases)
        native = driver.isa.native and driver.isa.name == "x86_64"
        self._deck = deal(signature, cases, convention, derive(seed, "deck"), steps if native else ())
        self._traced = None if native else deal(signature, [cases[n] for n in steps], convention, derive(seed, "few"))
        reached = self._run(reference, self._deck)
        known: Known | None = None
        narrow, wider = (partial(self._run, subject) for subject in (reference, wide))
        if tolerance.error_ratio and not wide:
            known = Magnitudes(signature, cases, convention, derive(seed, "magnitudes"), narrow)
        if wide:
            known = WideReference(signature, cases, convention, derive(seed, "wide"), narrow, wider)
        self._judge = Judge(self._deck, symbol, convention, reached, tolerance, floats, known)
        self._reference_steps = self._steps(reference, reached)

    def check(self, candidate: bytes) -> Finding:
        """Calls a candidate on every case.

        Args:
            candidate: a relocatable object that holds the function.
        """
        found = self._run(candidate, self._deck)
        fault = self._judge.fault(found)
        if isinstance(fault, Fault) and fault.evidence.get("stepped"):
            # A virtual machine may lose a trap of a single step: only what a process shows once more counts.
            found = self._run(candidate, self._deck)
            fault = self._judge.fault(found)
        if fault is not None:
            return fault
        steps = self._steps(candidate, found)
        said = f"{self._calls} calls gave what the reference gives, with the ABI kept"
        if self._traced is None:
            said += f"; {len(self._deck.laid) - self._calls} of them again, step by step"
        elif not steps:
            said += "; instructions were not counted"
        isa = self._driver.isa
        evidence: dict[str, Any] = {"cases": self._calls, "isa": isa.name, "emulated": not isa.native}
        return Passed(said, evidence | {"instructions": steps, "reference_instructions": self._reference_steps})

    def case(self, number: int) -> Case:
        """Returns the case that a fault names, with buffers that overlap as they did."""
        laid = self._deck.laid[number]
        return replace(laid.case, overlap=laid.overlap, free=False)

    def _run(self, subject: bytes, deck: Deck) -> DriverOutput:
        return told(deck, self._driver.run(subject, self._symbol, deck.data, self._seconds))

    def _steps(self, subject: bytes, found: DriverOutput) -> list[Mapping[str, int]]:
        """Returns sizes and instructions of the calls that were counted to their end; none where none could be.

        Elsewhere than on x86-64 an emulator logs them, in a run of its own.
        """
        if self._traced is None:
            stepped = self._judge.steps(found)
            return [self._counted(laid.case, steps) for laid, steps in stepped]
        if self._driver.isa.native:
            return []
        ran = self._driver.run(
            subject, self._symbol, self._traced.data, self._seconds, logged=(found.greeting[1], found.greeting[2] - 1)
        )
        if moved(ran, told(self._traced, ran).greeting, found.greeting):
            return []
        counts = logged_counts(ran.log, found.greeting[0])
        if len(counts) != len(self._traced.laid):  # it calls itself, or is entered otherwise
            return []
        return [self._counted(laid.case, steps) for laid, steps in zip(self._traced.laid, counts, strict=True)]

    def _counted(self, case: Case, steps: int) -> Mapping[str, int]:
        sizes = {one.name: int(case.numbers[one.name]) for one in self._signature.arguments if one.role is Role.SIZE}
        return {**sizes, "instructions": steps}
