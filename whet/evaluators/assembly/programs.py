"""Translations of whole programs: linked with the C library of their machine, and run on stdin beside the reference.

A program may call the C library, keep data that it writes, and consist of several functions; its work it does itself.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping

from whet.core.candidate import Candidate
from whet.core.verdict import Reason
from whet.evaluators.abi.calls import lacking
from whet.evaluators.artifacts import Builder
from whet.evaluators.assembly.coverage import Coverage, covered_by_runs, with_coverage
from whet.evaluators.assembly.lint import NO_TRANSLATION, forbidden_instructions, lint
from whet.evaluators.climbing.checking import cases_of, expect_right
from whet.evaluators.finding import Fault, Finding, Passed, Skipped, sound
from whet.evaluators.inputs.source import InputSource, derive
from whet.evaluators.oracle import Oracle
from whet.evaluators.rungs import Check
from whet.sandbox.toolchains import native
from whet.sandbox.toolchains.assembly import linked_program

MAIN = "main"
ELSEWHERE = re.compile(
    r"syscall|system|popen|v?fork|clone|exec[lv]\w*|fexecve|posix_spawnp?|dl(?:m?open|sym)|ptrace|mprotect|socket|connect"
)
"""What of the C library starts programs, or asks the kernel for anything whatever."""
DRAWN = 5
"""Inputs of each size that the branches of the reference are counted on, beside the cases."""


class ProgramChecks:
    """The rungs of a program; see `whet.evaluators.assembly.emulated.Checks`.

    Args:
        builder: of the task.
        source: of its inputs.
        oracle: says what is right.
        compare: compares a candidate that builds with the reference, on the inputs of a seed.
    """

    def __init__(
        self,
        builder: Builder,
        source: InputSource,
        oracle: Oracle,
        compare: Callable[[Candidate, int], Finding],
    ) -> None:
        self._builder = builder
        self._task = builder.task
        self._source = source
        self._oracle = oracle
        self._compare = compare
        self._covered: Coverage | Skipped | None = None
        self._lock = threading.Lock()

    def __call__(self, candidate: Candidate, seed: int) -> Mapping[str, Check]:
        """Returns the rungs."""
        missing = lacking(self._task.isa)
        return {
            "screen": lambda: self._screen(candidate),
            "build": lambda: missing or self._build(candidate),
            "test": lambda: missing or self._test(candidate),
            "differential": lambda: missing or self._differential(candidate, seed),
        }

    def _screen(self, candidate: Candidate) -> Finding:
        if native.language_of(self._task, candidate.source) != "asm":
            return Fault(Reason.FORBIDDEN_CONSTRUCT, NO_TRANSLATION)
        fault = lint(candidate.source, MAIN, self._task.isa, program=True)
        return fault or Passed("holds a program, and nothing that reaches elsewhere")

    def _build(self, candidate: Candidate) -> Finding:
        place = self._builder
        made = linked_program(place.sandbox, place.interpreter, self._task, candidate.source)
        if isinstance(made, native.Diagnostics):
            return Fault(Reason.BUILD_ERROR, made.text)
        if called := [name for name in made.called if ELSEWHERE.fullmatch(name)]:
            return Fault(Reason.FORBIDDEN_CONSTRUCT, f"it calls {', '.join(called)}: a program does its work by itself")
        return forbidden_instructions(made.listing, self._task.isa) or Passed("is assembled and linked")

    def _test(self, candidate: Candidate) -> Finding | None:
        cases = cases_of(self._source)
        artifact = sound(self._builder.build(candidate.source))
        if not cases:
            return None
        expect_right(cases, artifact, 0, self._task.limits.seconds, self._oracle)
        return Passed(f"{len(cases)} cases pass")

    def _differential(self, candidate: Candidate, seed: int) -> Finding:
        found = self._compare(candidate, seed)
        return with_coverage(found, self._coverage(seed)) if isinstance(found, Passed) else found

    def _coverage(self, seed: int) -> Coverage | Skipped:
        """Returns the branches that the reference takes on the cases and on inputs of the generator, counted once."""
        with self._lock:
            if self._covered is None:
                inputs = list(self._source.cases)
                for size in self._source.sizes:
                    inputs += self._source.draw(size, [derive(seed, "branches", size, n) for n in range(DRAWN)])
                self._covered = covered_by_runs(self._builder, [one.payload for one in inputs])
            return self._covered
