"""What ptxas says of kernels (``-Xptxas -v``): registers, spills, stack and shared memory; and where it complains."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

ENTRY = re.compile(r"Compiling entry function '(?P<name>[^']+)' for '(?P<arch>[^']+)'")
PROPERTIES = re.compile(r"Function properties for '?(?P<name>[^'\s]+)'?")
FRAME = re.compile(
    r"(?P<stack>\d+) bytes stack frame, (?P<stores>\d+) bytes spill stores, (?P<loads>\d+) bytes spill loads"
)
USED = re.compile(r"\bUsed (?P<registers>\d+) registers")
AMOUNT = re.compile(r"(?P<amount>\d+) bytes (?P<kind>smem|cmem\[\d+\]|lmem)|used (?P<barriers>\d+) barriers")
USAGE = re.compile(r"Function (?P<name>\S+):\s+REG:(?P<registers>\d+) STACK:(?P<stack>\d+)")
COMPLAINT = re.compile(
    r"^(?P<file>[^\s:()][^:()]*)(?:\((?P<line>\d+)\)|:(?P<line2>\d+)(?::\d+)?):\s*"
    r"(?P<kind>fatal error|error|warning)(?: #[\w-]+)?\s*:\s*(?P<text>.+)$",
    re.MULTILINE,
)
PTXAS_ERROR = re.compile(
    r"^ptxas (?:(?P<where>\S+), line (?P<line>\d+); )?(?P<kind>error|fatal)\s*:\s*(?P<text>.+)$", re.M
)


@dataclass(frozen=True, slots=True)
class Resources:
    """What one kernel takes of its multiprocessor.

    Attributes:
        kernel: as the linker names it.
        arch: such as ``sm_90``.
        registers: of a thread.
        stack: bytes of a thread's stack frame.
        spill_stores: bytes that a thread stores for want of registers.
        spill_loads: bytes that it loads back.
        shared: bytes of static shared memory of a block.
        constant: bytes of constant memory.
        barriers: that a block uses.
    """

    kernel: str
    arch: str
    registers: int
    stack: int = 0
    spill_stores: int = 0
    spill_loads: int = 0
    shared: int = 0
    constant: int = 0
    barriers: int = 0


@dataclass(frozen=True, slots=True)
class Complaint:
    """An error or a warning of nvcc or ptxas.

    Attributes:
        file: as the compiler names it; empty where it names none.
        line: of the file; 0 where it tells none.
        kind: ``error``, ``fatal error`` or ``warning``.
        text: the message, without what follows it.
    """

    file: str
    line: int
    kind: str
    text: str


def resources(said: str) -> tuple[Resources, ...]:
    """Returns the kernels that ptxas tells of, in its order; functions that are no kernels are left out."""
    return tuple(_kernels(said))


def _kernels(said: str) -> Iterator[Resources]:
    for part in re.split(r"(?=Compiling entry function)", said):
        entry = ENTRY.match(part)
        used = USED.search(part)
        if entry is None or used is None:
            continue
        # The frame of the kernel itself comes before those of functions that it calls.
        own = next((match.end() for match in PROPERTIES.finditer(part) if match["name"] == entry["name"]), 0)
        frame = FRAME.search(part, own)
        amounts = {"smem": 0, "cmem": 0, "barriers": 0}
        for match in AMOUNT.finditer(part[used.start() :].splitlines()[0]):
            name = "barriers" if match["barriers"] else match["kind"].partition("[")[0]
            amounts[name] = amounts.get(name, 0) + int(match["barriers"] or match["amount"])
        yield Resources(
            entry["name"],
            entry["arch"],
            int(used["registers"]),
            stack=int(frame["stack"]) if frame else 0,
            spill_stores=int(frame["stores"]) if frame else 0,
            spill_loads=int(frame["loads"]) if frame else 0,
            shared=amounts["smem"],
            constant=amounts["cmem"],
            barriers=amounts["barriers"],
        )


def complaints(said: str) -> tuple[Complaint, ...]:
    """Returns the errors and warnings of nvcc, of the host compiler and of ptxas, errors first."""
    found = [
        Complaint(match["file"], int(match["line"] or match["line2"]), match["kind"], match["text"].strip())
        for match in COMPLAINT.finditer(said)
    ]
    found += [
        Complaint(match["where"] or "", int(match["line"] or 0), "error", match["text"].strip())
        for match in PTXAS_ERROR.finditer(said)
    ]
    return tuple(sorted(found, key=lambda one: one.kind == "warning"))


def dumped(text: str, arch: str) -> tuple[Resources, ...]:
    """Returns what ``cuobjdump --dump-resource-usage`` tells of kernels; spills are in their stack there.

    Its shared memory holds what the system takes of each block, and is left out.
    """
    return tuple(
        Resources(match["name"], arch, int(match["registers"]), int(match["stack"])) for match in USAGE.finditer(text)
    )
