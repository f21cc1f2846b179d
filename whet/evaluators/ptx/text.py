"""What can be read from PTX itself: its kernels, and what none may bring in that the baseline lacks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from whet.core.errors import nearest
from whet.core.verdict import Reason
from whet.evaluators.finding import Fault

COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
STRING = re.compile(r'"[^"\n]*"')
ENTRY = re.compile(r"\.entry\s+(?P<name>[\w$.]+)\s*(?:\((?P<parameters>[^()]*)\))?")
TYPE = re.compile(r"\.(?:b|u|s|f)\d+\b|\.texref|\.samplerref|\.surfref")
COUNT = re.compile(r"\[\s*\d+\s*\]")
MEMORY = re.compile(r"(?<![\w.])\.global\s")
"""A declaration; in an instruction such as `ld.global` the word follows another one."""
READ = re.compile(r"%(?:globaltimer|clock|pm\d)\w*")
"""Registers that count time, or what a multiprocessor did."""
ELSEWHERE = re.compile(r"(?<![\w.])\.(?:extern|weak|common|alias|texref|surfref|samplerref)\b")
"""What a linker or a host would have to bring; dynamic shared memory is the one exception."""
SHARED = re.compile(r"\.extern\s+\.shared\b")
HEADER = re.compile(r"^[ \t]*\.version[ \t]+\d", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel as PTX declares it.

    Attributes:
        name: that a host asks for.
        parameters: types with the sizes of arrays, as the host has to give them.
    """

    name: str
    parameters: tuple[str, ...]


def kernels(source: str) -> tuple[Kernel, ...]:
    """Returns the kernels of a text in their order."""
    return tuple(
        Kernel(match["name"], tuple(_types(match["parameters"] or ""))) for match in ENTRY.finditer(_bare(source))
    )


def screen(source: str, baseline: str) -> Fault | None:
    """Returns why a candidate cannot stand for the baseline, as far as the text tells.

    A host finds kernels by name and fills in their parameters by type. Memory of a module outlives a launch, what
    stands elsewhere may be anything (an allocator of the device, say), and clocks let a kernel see how it is measured:
    none of them may be new.
    """
    if "\0" in source:
        return Fault(Reason.SYNTAX_ERROR, "it holds a NUL byte")
    if not HEADER.search(_bare(source)):
        return Fault(Reason.BUILD_ERROR, "it is no PTX: it has no .version")
    theirs = {kernel.name: kernel for kernel in kernels(source)}
    for kernel in kernels(baseline):
        if kernel.name not in theirs:
            hint = nearest(kernel.name, list(theirs))
            return Fault(Reason.BUILD_ERROR, f"it defines no kernel {kernel.name}{hint}")
        found = theirs[kernel.name].parameters
        if found != kernel.parameters:
            before, after = ", ".join(kernel.parameters), ", ".join(found)
            return Fault(Reason.BUILD_ERROR, f"the parameters of {kernel.name} changed from ({before}) to ({after})")
    bare, old = _bare(source), _bare(baseline)
    for new, known, why in (
        (_memory(bare), _memory(old), "memory of the module that outlives a launch"),
        (_elsewhere(bare), _elsewhere(old), "what stands outside the module"),
        (list(READ.finditer(bare)), list(READ.finditer(old)), "it reads a clock or a counter"),
    ):
        if len(new) > len(known):
            return Fault(Reason.FORBIDDEN_CONSTRUCT, f"line {_line(bare, new[-1])}: {why}")
    return None


def _bare(source: str) -> str:
    """Returns a text without comments and strings, line for line."""
    bare = COMMENT.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), source)
    return STRING.sub(lambda match: " " * len(match[0]), bare)


def _types(parameters: str) -> Iterator[str]:
    for part in filter(str.strip, parameters.split(",")):
        kind, count = TYPE.search(part), COUNT.search(part)
        yield f"{kind[0] if kind else '?'}{count[0].replace(' ', '') if count else ''}"


def _memory(bare: str) -> list[re.Match[str]]:
    """Returns where memory of the module is declared; of parameters the word only tells where they point to."""
    return [
        match
        for match in MEMORY.finditer(bare)
        if bare.count("(", 0, match.start()) == bare.count(")", 0, match.start())
    ]


def _elsewhere(bare: str) -> list[re.Match[str]]:
    return [match for match in ELSEWHERE.finditer(bare) if not SHARED.match(bare, match.start())]


def _line(bare: str, match: re.Match[str]) -> int:
    return bare.count("\n", 0, match.start()) + 1
