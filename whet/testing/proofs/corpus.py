"""Reads the pairs, and compiles them."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path

from whet.core.signature import Signature
from whet.evaluators.prove.proof import Code
from whet.evaluators.signature import SignatureTable, read_signature

FILE = Path(__file__).with_name("pairs.toml")
SYMBOL = "f"
BASELINE = "x86_64"
PREFIXES = {"x86_64": "", "aarch64": "aarch64-linux-gnu-"}
"""Before the names of compilers and binutils."""
ASSEMBLY = """\
{syntax}
    .text
    .globl f
    .type f, {type}
f:
{body}
    .size f, .-f
    .section .note.GNU-stack,"",{bits}
"""


@dataclass(frozen=True, slots=True)
class FunctionPair:
    """Two functions.

    Attributes:
        name: of the pair.
        signature: the contract of both.
        baseline: in C, for x86-64.
        candidate: in C, or the body of a function in assembly.
        isa: of the candidate.
        equal: whether they are equivalent under the contract.
        holds: mnemonics that the candidate's code must have, so that the pair is about what it says.
    """

    name: str
    signature: Signature
    baseline: str
    candidate: str
    isa: str
    equal: bool
    holds: tuple[str, ...]


def pairs() -> tuple[FunctionPair, ...]:
    """Returns all pairs."""
    found = []
    for row in tomllib.loads(FILE.read_text())["pair"]:
        table = SignatureTable.model_validate({"prototype": row["prototype"], **row.get("arguments", {})})
        signature = read_signature(table, SYMBOL, row["name"])
        isa = row.get("isa", BASELINE)
        found.append(
            FunctionPair(
                row["name"], signature, row["baseline"], row["candidate"], isa, row["equal"], tuple(row["holds"])
            )
        )
    return tuple(found)


def missing(isa: str) -> str | None:
    """Returns the compiler that an instruction set needs and this machine lacks, or None."""
    compiler = f"{PREFIXES[isa]}gcc"
    return None if shutil.which(compiler) else compiler


def compiled(text: str, isa: str, flags: tuple[str, ...] = ("-O2",)) -> Code:
    """Returns a function compiled from C, or assembled from the body of a function.

    Raises:
        subprocess.CalledProcessError: it does not compile.
    """
    with tempfile.TemporaryDirectory(prefix="whet-pair-") as name:
        folder = Path(name)
        in_c = f" {SYMBOL}(" in text
        source = folder / ("side.c" if in_c else "side.s")
        source.write_text(f"#include <stdint.h>\n{text}" if in_c else assembly(text, isa))
        # -fno-builtin-popcount and the like would change what a row is about, so nothing but the level is asked for.
        command = [f"{PREFIXES[isa]}gcc", *flags, "-c", source.name, "-o", "side.o"]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
        return Code((folder / "side.o").read_bytes(), SYMBOL, isa)


def assembly(body: str, isa: str) -> str:
    """Returns a file of assembly with one function."""
    syntax = "    .intel_syntax noprefix" if isa == "x86_64" else ""
    at, percent = ("@function", "@progbits") if isa == "x86_64" else ("%function", "%progbits")
    return ASSEMBLY.format(syntax=syntax, type=at, bits=percent, body=body.strip("\n"))


def mnemonics(code: Code) -> set[str]:
    """Returns what the binutils read in an object."""
    with tempfile.NamedTemporaryFile(suffix=".o") as file:
        file.write(code.object)
        file.flush()
        command = [f"{PREFIXES[code.isa]}objdump", "-d", "--no-show-raw-insn", "-M", "intel", file.name]
        command = [word for word in command if code.isa == "x86_64" or word not in ("-M", "intel")]
        said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    lines = (line.partition(":\t")[2].split() for line in said.splitlines() if ":\t" in line)
    return {words[0] for words in lines if words}
