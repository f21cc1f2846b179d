"""Libraries that a Python answer asks for: compiled in a sandbox in which nothing of the answer runs.

What comes of it follows from the text and the flags alone, so one answer's library may serve another that asks for the
same.
"""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass

from whet.sandbox.interpreter import Interpreter
from whet.sandbox.protocol import Sandbox
from whet.sandbox.toolchains import cuda_extension, torch_extension
from whet.sandbox.toolchains.native import SHARED, SUFFIXES, Diagnostics, compiler, run_compiler

EXTENSIONS = {"torch": torch_extension.compile_extension, "cuda": cuda_extension.compile_extension}
MOST_FLAGS = 64
"""Flags and function names of a library together. The answer's process chooses them: more let it make the compiler's
command and text longer; fewer refuse more libraries."""
LONGEST = 1 << 20
"""Characters of a library's source, as many as a model's answer may have (`whet.agents.answers`). Less refuses
libraries that an answer can hold; more lets the answer's process give the compiler more work."""
MOST_LINES = 40
"""Lines of a compiler's errors that are reported. More cost tokens where a model mends them; fewer leave out more
errors."""
ERROR = re.compile(r"(error|undefined reference|undefined symbol)\b")
NOISE = re.compile(r"In file included from|\s+from |.*: note: |.*required from|.*In instantiation of")


@dataclass(frozen=True, slots=True)
class LibraryRequest:
    """A library that an answer asks for. The answer's process says so: nothing of it is to be believed.

    Attributes:
        kind: ``c``, ``cpp``, ``torch`` for an extension of torch, or ``cuda`` for one with CUDA in it.
        source: the text.
        flags: of the compiler, after ours.
        functions: that an extension offers to Python; empty where its text says so itself.
    """

    kind: str
    source: str
    flags: tuple[str, ...]
    functions: tuple[str, ...] = ()

    @classmethod
    def read(cls, text: str) -> LibraryRequest:
        """Returns what a process asked for, from JSON.

        Raises:
            ValueError: it is no such thing.
        """
        told = json.loads(text)
        if not isinstance(told, dict) or told.get("kind") not in (*SUFFIXES, *EXTENSIONS):
            raise ValueError("no description of a library")
        source, flags, functions = told.get("source"), told.get("flags"), told.get("functions", [])
        if not isinstance(source, str) or len(source) > LONGEST or not isinstance(flags, list):
            raise ValueError("no source text")
        if not isinstance(functions, list) or len(flags) + len(functions) > MOST_FLAGS:
            raise ValueError("no flags")
        if not all(isinstance(word, str) for word in (*flags, *functions)):
            raise ValueError("flags that are no words")
        if not all(name.isidentifier() for name in functions):
            raise ValueError("functions that are no names")
        return cls(told["kind"], source, tuple(flags), tuple(functions))


def compile_library(sandbox: Sandbox, interpreter: Interpreter, request: LibraryRequest) -> bytes | Diagnostics:
    """Returns the bytes of a shared object, or the compiler's words.

    Raises:
        UsageError: the compiler is not installed.
    """
    if request.kind in EXTENSIONS:
        built = EXTENSIONS[request.kind](sandbox, interpreter, request.source, request.functions, request.flags)
    else:
        name = f"answer{SUFFIXES[request.kind]}"
        command = [compiler(request.kind), *SHARED, *request.flags, name, "-o", "library.so", "-lm"]
        steps = ["cd /tmp", f"cat > {name}", shlex.join(command)]
        built = run_compiler(sandbox, interpreter, steps, request.source.encode(), ["/tmp/library.so"])
    return Diagnostics(digest(built.text)) if isinstance(built, Diagnostics) else built[0]


def digest(text: str) -> str:
    """Returns what a compiler said without the places that led to a template, the first errors only."""
    kept: list[str] = []
    follow = False
    for line in text.splitlines():
        if NOISE.match(line):
            follow = False
        elif ERROR.search(line):
            follow = True
        if follow:
            kept.append(line[:240])
    return "\n".join(kept[:MOST_LINES]) or text[:4000]
