"""What other compilers and other flags make of a function, handed in as assembly."""

from __future__ import annotations

import platform
import shlex
from collections.abc import Iterator
from contextlib import closing
from functools import lru_cache

from whet.agents.catalogue.base import Label, Proposal
from whet.agents.catalogue.cpp.pragmas import machine_features
from whet.agents.catalogue.cpp.source import read
from whet.agents.models.base import Brief
from whet.core.candidate import content_id
from whet.core.errors import SandboxError, UsageError
from whet.sandbox.backends import open_sandbox
from whet.sandbox.interpreter import find_interpreter
from whet.sandbox.toolchains.steps import run_steps

TOOLS = {"c": {"gcc": "gcc", "clang": "clang"}, "cpp": {"gcc": "g++", "clang": "clang++"}}
SUFFIXES = {"c": "c", "cpp": "cpp"}
WIDE = "-mprefer-vector-width=512"
CHOICES = (
    ("gcc", "-O3 -funroll-loops"),
    ("gcc", "-O2 -fno-tree-vectorize"),
    ("gcc", f"-O3 {WIDE}"),
    ("clang", "-O3"),
    ("clang", "-O2 -fno-vectorize -fno-slp-vectorize"),
    ("clang", f"-O3 {WIDE}"),
)
"""The compiler and its flags beside those that say what processor it is for."""
OWN = {"gcc": ("-fcf-protection=none",), "clang": ("-fcf-protection=none", "-fno-addrsig")}
PLAIN = ("-fPIC", "-fno-asynchronous-unwind-tables", "-fno-stack-protector", "-S")
"""For a shared object, and without what only debuggers and exceptions need."""
LONGEST = 200_000
"""Characters of a file that is looked at."""


class CompilerChoices:
    """Takes the output of another compiler, or of the same with other flags, for the function's new text.

    Whether it is faster than the strongest baseline is for the ladder to say; it is a change of flags, and called so.
    """

    name = "compiler-choice"
    languages: tuple[str, ...] = ("c", "cpp")
    label = Label.COMPILER_FLAG
    summary = "takes what gcc or clang makes of the file with other flags: unrolled, with wider vectors, or with none"
    needs = "a contract, flags that the task leaves open, bubblewrap, an x86-64 machine"
    unsafe = "a processor that lacks the instructions"
    assumes: tuple[str, ...] = ()

    def propose(self, brief: Brief) -> Iterator[Proposal]:
        """Yields one proposal a choice; none where a tool or the sandbox is missing."""
        machine = platform.machine()
        if brief.signature is None or not brief.open_flags or machine != brief.isa or machine != "x86_64":
            return
        source = read(brief)
        if source is None or len(brief.source) > LONGEST:
            return
        line = next((source.tokens[one.at].line for one in source.functions if one.name == brief.symbol), 1)
        texts = _made(brief.language, brief.source, brief.features)
        for choice, text in zip(_choices(brief.features), texts, strict=False):
            if text and text not in texts[: texts.index(text)]:
                yield Proposal(text, self.name, self.label, line, f"another compiler or flags: {' '.join(choice)}")


def _choices(features: tuple[str, ...]) -> list[tuple[str, str]]:
    wide = {"avx512f", "avx512vl"} <= (set(features) or machine_features())
    return [choice for choice in CHOICES if wide or WIDE not in choice[1]]


@lru_cache(maxsize=64)
def _made(language: str, source: str, features: tuple[str, ...]) -> tuple[str, ...]:
    """Returns the assembly that each choice makes; empty where it makes none.

    The text is anybody's, and a compiler opens whatever file it includes: it runs in a sandbox.
    """
    target = [f"-m{name}" for name in features] or ["-march=native"]
    file = f"given.{SUFFIXES[language]}"
    steps, made = [f"cp $TREE/{file} ."], []
    for number, (compiler, flags) in enumerate(_choices(features)):
        tool, output = TOOLS[language][compiler], f"{number}.s"
        command = shlex.join([tool, *flags.split(), *target, *OWN[compiler], *PLAIN, file, "-o", output])
        steps.append(f"{{ {command} 2>/dev/null || true > {output}; }}")
        made.append(f"/tmp/{output}")
    try:
        with closing(open_sandbox("bubblewrap", unsafe=False)) as sandbox:
            tree = sandbox.stage(f"choices-{content_id(source)}", {file: source.encode()})
            files = run_steps(sandbox, find_interpreter(), steps, tree, made).files
    except (UsageError, SandboxError):
        return ()
    return tuple(files[path].decode("utf-8", "replace") for path in made if path in files)
