"""What an edit of PTX does: registers, spills and machine code beside those of the baseline. No GPU is needed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from whet.core.plain import to_plain
from whet.core.verdict import Reason
from whet.evaluators.finding import Fault, Passed, Skipped
from whet.evaluators.profilers.ptxas import Resources
from whet.evaluators.profilers.sass import mixes
from whet.evaluators.profilers.static_facts import KernelFacts, facts
from whet.evaluators.profilers.static_facts import lines as fact_lines
from whet.evaluators.ptx.assembling import Assembled, assemble_ptx
from whet.evaluators.ptx.sass_diff import KernelChange, compare_sass
from whet.evaluators.ptx.text import screen
from whet.sandbox.interpreter import Interpreter
from whet.sandbox.protocol import Sandbox
from whet.sandbox.toolchains.ptx import Disassembly, disassemble

NO_DISASSEMBLER = (
    "neither cuobjdump nor nvdisasm is installed: pip install nvidia-cuda-cuobjdump nvidia-cuda-nvdisasm, or triton"
)
UNCHANGED = "the machine code of no kernel changed: the edit does nothing for this GPU"
UNREADABLE = "cannot read this machine code"
COUNTED = {
    "registers": "registers",
    "stack": "B stack",
    "spill_stores": "B spilt",
    "spill_loads": "B loaded back",
    "shared": "B shared memory",
}
"""Of `Resources`: what is compared, and how it is called."""


@dataclass(frozen=True, slots=True)
class PtxReport:
    """What is known of a candidate and of the baseline without running them.

    Attributes:
        arch: of the GPU that both were assembled for.
        candidate: machine code of the candidate.
        baseline: machine code of the baseline.
        kernels: of the candidate.
        changes: what became of each kernel; None where no disassembler told.
        skipped: why there are no changes.
    """

    arch: str
    candidate: Assembled
    baseline: Assembled
    kernels: tuple[KernelFacts, ...]
    changes: tuple[KernelChange, ...] | None
    skipped: Skipped | None = None

    @property
    def changed(self) -> tuple[str, ...] | None:
        """Names of the kernels whose machine code changed; None where nobody could tell."""
        return None if self.changes is None else tuple(one.kernel for one in self.changes if one.changed)


def examine(
    sandbox: Sandbox, interpreter: Interpreter, source: str, baseline: str, arch: str
) -> PtxReport | Fault | Skipped:
    """Assembles a candidate and the baseline, and compares what comes of them.

    Args:
        sandbox: where NVIDIA's tools run.
        interpreter: whose packages may bring them.
        source: PTX of the candidate.
        baseline: PTX of the baseline.
        arch: of the GPU, such as ``sm_90``.

    Returns:
        the report; what is wrong with the candidate; or what is missing to tell, also where it is the baseline that
        this ptxas cannot assemble.
    """
    if fault := screen(source, baseline):
        return fault
    old = assemble_ptx(sandbox, interpreter, baseline, arch)
    if isinstance(old, Skipped):
        return old
    if isinstance(old, Fault):
        return Skipped(Reason.TOOL_MISSING, f"the ptxas that is installed refuses the baseline: {old.detail}")
    new = assemble_ptx(sandbox, interpreter, source, arch)
    if not isinstance(new, Assembled):
        return new
    before, after = (disassemble(sandbox, interpreter, side.cubin) for side in (old, new))
    missing = _missing(before, after)
    if missing is not None or before is None or after is None:
        return PtxReport(arch, new, old, facts(new.kernels, "ptxas", (), {}), None, missing)
    kernels = facts(new.kernels, "ptxas", mixes(after.text), {})
    return PtxReport(arch, new, old, kernels, compare_sass(before.text, after.text))


def build_finding(report: PtxReport) -> Passed:
    """Returns what the build rung says of a candidate that ptxas takes; its evidence is that of other kernels."""
    names = ", ".join(one.resources.kernel for one in report.kernels)
    if report.changed is None:
        became = "no comparison of machine code"
    elif report.changed:
        became = f"the machine code of {', '.join(report.changed)} changed"
    else:
        became = UNCHANGED
    told = list(report_lines(report))
    evidence = {
        "arch": report.arch,
        "kernels": [to_plain(one) for one in report.kernels],
        "static": told,
        "changed": None if report.changed is None else list(report.changed),
    }
    return Passed("\n".join([f"ptxas assembles {names} for {report.arch}; {became}", *told]), evidence)


def report_lines(report: PtxReport) -> tuple[str, ...]:
    """Returns the report in short lines for a Coder or a Judge, each with the tool that it comes from."""
    return tuple(_lines(report))


def _missing(*sides: Disassembly | None) -> Skipped | None:
    if any(side is None for side in sides):
        return Skipped(Reason.TOOL_MISSING, NO_DISASSEMBLER)
    unread = next((side.tool for side in sides if side is not None and not side.text), None)
    return Skipped(Reason.TOOL_MISSING, f"the {unread} that is installed {UNREADABLE}") if unread else None


def _lines(report: PtxReport) -> Iterator[str]:
    yield from fact_lines(report.kernels)
    yield from _resources(report.baseline.kernels, report.candidate.kernels)
    yield from (f"ptxas warns: {text}" for text in report.candidate.warnings)
    if report.skipped is not None:
        yield f"no comparison of machine code: {report.skipped.detail}"
    if report.changed == ():
        yield UNCHANGED
    for change in report.changes or ():
        if not change.changed:
            yield f"{change.kernel}: machine code unchanged"
            continue
        counts = ", ".join(f"{opcode} {old} -> {new}" for opcode, (old, new) in change.opcodes.items())
        yield f"{change.kernel}: machine code changed; {counts or 'the same instructions in another order or form'}"
        yield change.diff
        if change.cut:
            yield f"({change.cut} more lines)"


def _resources(before: Sequence[Resources], after: Sequence[Resources]) -> Iterator[str]:
    old = {one.kernel: one for one in before}
    for one in after:
        was = old.get(one.kernel, one)
        grown = [
            f"{getattr(was, name)} -> {getattr(one, name)} {what}"
            for name, what in COUNTED.items()
            if getattr(was, name) != getattr(one, name)
        ]
        if grown:
            yield f"{one.kernel}: {', '.join(grown)} [ptxas, before -> after]"
