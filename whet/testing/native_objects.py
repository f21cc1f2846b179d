"""Relocatable objects of seeded faults and of tests: compiled in a sandbox, all of an instruction set at once."""

from __future__ import annotations

from collections.abc import Mapping

from whet.sandbox.interpreter import Interpreter
from whet.sandbox.protocol import Sandbox
from whet.sandbox.toolchains.isas import ISAS
from whet.sandbox.toolchains.steps import run_steps


def objects(
    sandbox: Sandbox, interpreter: Interpreter, isa: str, texts: Mapping[str, str], suffix: str
) -> dict[str, bytes]:
    """Returns the objects of C or assembly texts, by the names of the texts."""
    numbered = {f"{number}.{suffix}": text.encode() for number, text in enumerate(texts.values())}
    tree = sandbox.stage(f"objects-{isa}-{suffix}-{abs(hash(tuple(numbered.values())))}", numbered)
    gcc = ISAS[isa].tool("gcc")
    steps = [f'for file in $TREE/*.{suffix}; do {gcc} -O2 -fPIC -c "$file" -o "$(basename $file).o" || exit 1; done']
    done = run_steps(sandbox, interpreter, steps, tree, [f"/tmp/{name}.o" for name in numbered])
    assert done.code == 0, done.said
    return {name: done.files[f"/tmp/{file}.o"] for name, file in zip(texts, numbered, strict=True)}
