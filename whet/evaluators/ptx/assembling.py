"""PTX put through ptxas: what its kernels take of a multiprocessor, or what is wrong with the text by line."""

from __future__ import annotations

import re
from dataclasses import dataclass

from whet.core.verdict import Reason
from whet.evaluators.finding import Fault, Skipped
from whet.evaluators.profilers.ptxas import Resources, complaints, resources
from whet.sandbox.interpreter import Interpreter
from whet.sandbox.protocol import Sandbox
from whet.sandbox.toolchains.cuda import find_tool
from whet.sandbox.toolchains.ptx import assemble

NO_PTXAS = "ptxas is not installed: pip install triton, or NVIDIA's toolkit"
UNSUPPORTED = re.compile(r"Unsupported \.version (?P<asked>[\d.]+); current version is '(?P<known>[\d.]+)'")
UNKNOWN_ARCH = re.compile(r"Value '(?P<arch>\w+)' is not defined for option 'gpu-name'")
ABORTED = "Ptx assembly aborted due to errors"
MOST = 10
"""Complaints that are shown."""
LONGEST = 160
"""Characters of a line of the text that are shown."""


@dataclass(frozen=True, slots=True)
class Assembled:
    """Machine code of one text.

    Attributes:
        cubin: the file.
        kernels: what each takes, in the order in which ptxas tells of them.
        warnings: of ptxas, as they stand.
    """

    cubin: bytes
    kernels: tuple[Resources, ...]
    warnings: tuple[str, ...] = ()


def assemble_ptx(sandbox: Sandbox, interpreter: Interpreter, source: str, arch: str) -> Assembled | Fault | Skipped:
    """Assembles a text for a GPU.

    Args:
        sandbox: where to assemble.
        interpreter: whose packages may bring ptxas.
        source: the text.
        arch: of the GPU, such as ``sm_90``.

    Returns:
        the machine code; a fault of the text, with its lines; or that there is no ptxas that could tell.
    """
    ptxas = find_tool("ptxas", interpreter)
    if ptxas is None:
        return Skipped(Reason.TOOL_MISSING, NO_PTXAS)
    done = assemble(sandbox, interpreter, ptxas, source, arch)
    if done.cubin is None:
        if unknown := UNKNOWN_ARCH.search(done.said):
            return Skipped(Reason.TOOL_MISSING, f"the ptxas that is installed knows no {unknown['arch']}")
        return Fault(Reason.BUILD_ERROR, _told(done.said, source))
    warnings = tuple(one.text for one in complaints(done.said) if one.kind == "warning")
    return Assembled(done.cubin, resources(done.said), warnings)


def _told(said: str, source: str) -> str:
    """Returns the errors of ptxas, each with the line of the text that it is about."""
    lines = source.split("\n")
    found = [one for one in complaints(said) if one.kind != "warning" and one.text != ABORTED]
    rows = []
    for one in found[:MOST]:
        shown = lines[one.line - 1].strip()[:LONGEST] if 0 < one.line <= len(lines) else ""
        where = f"line {one.line}: " if one.line else ""
        rows.append(f"{where}{_in_words(one.text)}{f': {shown}' if shown else ''}")
    if len(found) > MOST:
        rows.append(f"and {len(found) - MOST} more")
    return "\n".join(rows) or said or "ptxas failed"


def _in_words(text: str) -> str:
    if match := UNSUPPORTED.search(text):
        return f"the ptxas that is installed reads PTX up to .version {match['known']}, and this is {match['asked']}"
    return text
