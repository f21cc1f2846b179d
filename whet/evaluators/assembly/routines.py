"""Answers to tasks with a contract, at the level of registers and memory, on the machine or in an emulator.

An answer becomes an object file, which the driver calls beside one of the reference; see `whet.evaluators.abi.calls`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from whet.core.candidate import content_id
from whet.core.errors import BaselineError, UsageError
from whet.core.task import NATIVE_ISA
from whet.core.verdict import Reason
from whet.evaluators.abi.calls import CallTests, lacking
from whet.evaluators.abi.cases import Case, from_contract
from whet.evaluators.abi.conventions import CONVENTIONS, STACKED, UnfitError, places
from whet.evaluators.abi.sourced import from_source
from whet.evaluators.abi.truth import widenable
from whet.evaluators.artifacts import Builder
from whet.evaluators.assembly.coverage import Coverage, covered, with_coverage
from whet.evaluators.assembly.lint import forbidden_instructions
from whet.evaluators.assembly.proving import KNOWN, SIMPLE, proven
from whet.evaluators.assembly.ways import Ways
from whet.evaluators.finding import Fault, Finding, Inconclusive, Passed, Skipped, sound
from whet.evaluators.floats.native_reference import widened
from whet.evaluators.inputs.contract import MADE
from whet.evaluators.inputs.source import InputSource, derive
from whet.evaluators.oracle import Oracle
from whet.evaluators.prove.engines import Engines, available
from whet.evaluators.prove.proof import Code
from whet.sandbox.toolchains import native
from whet.sandbox.toolchains.assembly import Assembled, object_file
from whet.sandbox.toolchains.driver import Driver
from whet.sandbox.toolchains.isas import ISAS
from whet.sandbox.toolchains.native import Diagnostics

KEPT = 4
"""Decks of cases that are kept: those of batches under way."""
PLAIN = ("-ffp-contract=off",)
"""Flags of a reference that says what is right: compilers for some instruction sets round less often by themselves."""


@dataclass(slots=True)
class _Dealt:
    """The cases of a batch, and the tests on them."""

    cases: list[Case]
    tests: CallTests
    coverage: Coverage | Skipped | None = None


class ProofBeside:
    """A proof that is looked for while something else goes on.

    Args:
        prove: looks for it, with engines.
    """

    def __init__(self, prove: Callable[[Engines], Finding]) -> None:
        self._engines = Engines()
        self._thread = ThreadPoolExecutor(1)
        self._found = self._thread.submit(prove, self._engines)

    def found(self) -> Finding:
        """Waits for what comes of it."""
        return self._found.result()

    def close(self) -> None:
        """Ends it, whether or not it has come to anything."""
        self._engines.stop()
        self._thread.shutdown()
        self._engines.close()


class Routines:
    """Judges the answers to one task. Safe for several threads.

    Args:
        builder: of the task, which has a contract.
        source: draws its inputs.
        oracle: judges floats.

    Raises:
        UsageError: the contract has more arguments than can be passed.
    """

    def __init__(self, builder: Builder, source: InputSource, oracle: Oracle) -> None:
        task = builder.task
        assert task.signature is not None, "a routine has a contract"
        self._builder = builder
        self._task = task
        self._signature = task.signature
        self._source = source
        self._oracle = oracle
        try:
            places(task.signature, CONVENTIONS[task.isa])
        except UnfitError as error:
            raise UsageError(f"{task.symbol} takes {error}, and at most {STACKED} can be passed there") from None
        self._driver = Driver(builder.sandbox, builder.interpreter, ISAS[task.isa], task.signature.externs)
        self._ways = Ways(builder, task.signature) if task.translated else None
        self._decks: dict[int, _Dealt] = {}
        self._made: dict[str, Assembled | Fault] = {}
        self._lock = threading.Lock()
        self._ahead = ThreadPoolExecutor(1)

    def close(self) -> None:
        """Waits for what is dealt ahead."""
        self._ahead.shutdown()

    def deal_ahead(self, seed: int) -> None:
        """Begins to deal the cases that follow from a seed, beside something else; see `check`, which meets what fails.

        Args:
            seed: that `check` will be asked with.
        """
        if self.lacking() is None:
            self._ahead.submit(self._deck, seed)

    def lacking(self) -> Skipped | None:
        """Returns what is not installed for the task's instruction set; None where nothing is missing."""
        return lacking(self._task.isa)

    def assembled(self, source: str) -> Assembled:
        """Returns the object of an answer.

        Raises:
            RungEndedError: something is wrong with it.
        """
        identity = content_id(source)
        if identity not in self._made:
            self._made[identity] = self._assembled(source)
        return sound(self._made[identity])

    def _assembled(self, source: str) -> Assembled | Fault:
        made = object_file(self._builder.sandbox, self._builder.interpreter, self._task, source)
        if isinstance(made, Diagnostics):
            return Fault(Reason.BUILD_ERROR, made.text)
        if native.language_of(self._task, source) != "asm":
            return made
        if said := native.uninvited(made.undefined, self._signature.externs):
            return Fault(Reason.BUILD_ERROR, said)
        return forbidden_instructions(made.listing, self._task.isa) or made

    def check(self, source: str, seed: int) -> Finding:
        """Calls an answer on the cases that follow from a seed; candidates of one batch share them.

        Raises:
            BaselineError: the reference itself breaks the ABI or its contract.
            RungEndedError: the answer is not assembled.
        """
        if missing := self.lacking():
            return missing
        made = self.assembled(source)
        found = (tests := self._deck(seed).tests).check(made.content)
        if self._ways is not None and isinstance(found, Fault) and "case" in found.evidence:
            said = self._ways.told(made, found, tests.case(found.evidence["case"]), derive(seed, "ways"))
            return replace(found, detail=f"{found.detail}\n{said}".rstrip())
        if isinstance(found, Passed) and self._task.untimed:
            return with_coverage(found, self.coverage(seed))
        return found

    def coverage(self, seed: int) -> Coverage | Skipped:
        """Returns which branches of the reference the cases take that follow from a seed."""
        deck = self._deck(seed)
        with self._lock:
            if deck.coverage is None:
                deck.coverage = covered(self._builder, self._signature, deck.cases, derive(seed, "coverage"))
            return deck.coverage

    def prove_beside(self, source: str) -> ProofBeside | None:
        """Begins to look for a proof while other rungs go on; None where nothing can be proved."""
        if self.lacking() is not None or not available() or self._task.isa not in KNOWN:
            return None
        return ProofBeside(lambda engines: self.prove(source, engines))

    def prove(self, source: str, engines: Engines | None = None) -> Finding:
        """Returns whether an answer was proved to be equivalent to the reference; see `proving.proven`."""
        if missing := self.lacking():
            return missing
        made = self.assembled(source)
        symbol = self._task.symbol or ""
        plain = replace(self._task, isa=NATIVE_ISA, features=(), flags=SIMPLE)
        reference = object_file(self._builder.sandbox, self._builder.interpreter, plain, self._task.original[0])
        if isinstance(reference, Diagnostics):
            return Inconclusive(f"the reference does not compile with {' '.join(SIMPLE)}")
        ours, theirs = Code(reference.content, symbol, NATIVE_ISA), Code(made.content, symbol, self._task.isa)

        def call(case: Case) -> Finding:
            return self._tests([case], derive(0, "replay")).check(made.content)

        return proven(ours, theirs, self._signature, call, engines)

    def _deck(self, seed: int) -> _Dealt:
        with self._lock:
            if seed not in self._decks:
                self._decks[seed] = self._dealt(derive(seed, "calls"))
                for old in list(self._decks)[:-KEPT]:
                    del self._decks[old]
            return self._decks[seed]

    def _dealt(self, seed: int) -> _Dealt:
        cases = self._cases(seed)
        return _Dealt(cases, self._tests(cases, seed))

    def _tests(self, cases: list[Case], seed: int) -> CallTests:
        task = self._task
        tolerance = task.oracle.tolerance
        wide = b""
        if tolerance.error_ratio and widenable(self._signature):
            text, _ = widened(*task.original, self._signature)
            made = self._reference(text)
            wide = b"" if isinstance(made, Diagnostics) else made.content
        reference = self._reference(task.original[0])
        if isinstance(reference, Diagnostics):
            raise BaselineError(f"the reference does not compile for {task.isa}: {reference.text}", "build_error")
        return CallTests(
            self._driver,
            self._signature,
            task.symbol or "",
            reference.content,
            cases,
            derive(seed, "deck"),
            tolerance,
            self._oracle.floats,
            wide,
        )

    def _cases(self, seed: int) -> list[Case]:
        exact = self._task.oracle.tolerance.exact
        if self._task.workload.origin == MADE:
            return from_contract(self._signature, seed, specials=exact)
        return from_source(self._signature, self._source, seed, specials=exact)

    def _reference(self, text: str) -> Assembled | Diagnostics:
        task = replace(self._task, flags=(*self._task.flags, *PLAIN))
        return object_file(self._builder.sandbox, self._builder.interpreter, task, text)
