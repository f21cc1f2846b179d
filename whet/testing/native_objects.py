"""Relocatable objects of seeded faults and of tests: compiled in a sandbox, all of an instruction set at once."""

from __future__ import annotations

from collections.abc import Mapping

from whet.sandbox.interpreter import Interpreter
from whet.sandbox.protocol import Sandbox
from whet.sandbox.toolchains.assembly import Assembled
from whet.sandbox.toolchains.isas import ISAS
from whet.sandbox.toolchains.steps import run_steps


def objects(
    sandbox: Sandbox, interpreter: Interpreter, isa: str, texts: Mapping[str, str], suffix: str
) -> dict[str, bytes]:
    """Returns the objects of C or assembly texts, by the names of the texts."""
    return {name: made.content for name, made in assembled(sandbox, interpreter, isa, texts, suffix).items()}


def assembled(
    sandbox: Sandbox, interpreter: Interpreter, isa: str, texts: Mapping[str, str], suffix: str
) -> dict[str, Assembled]:
    """Returns the same with what objdump and nm say of them."""
    numbered = {f"{number}.{suffix}": text.encode() for number, text in enumerate(texts.values())}
    tree = sandbox.stage(f"objects-{isa}-{suffix}-{abs(hash(tuple(numbered.values())))}", numbered)
    gcc, dump, names = map(ISAS[isa].tool, ("gcc", "objdump", "nm"))
    each = (
        f'made="$(basename $file).o"; {gcc} -O2 -fPIC -c "$file" -o "$made" && '
        f'{dump} -d --no-show-raw-insn "$made" > "$made.listing" && {names} -u -P "$made" > "$made.undefined"'
    )
    steps = [f"for file in $TREE/*.{suffix}; do {each} || exit 1; done"]
    wanted = [f"/tmp/{name}.o{kind}" for name in numbered for kind in ("", ".listing", ".undefined")]
    done = run_steps(sandbox, interpreter, steps, tree, wanted)
    assert done.code == 0, done.said

    def one(path: str) -> Assembled:
        said = (done.files[f"{path}.{kind}"].decode("utf-8", "replace") for kind in ("listing", "undefined"))
        return Assembled(done.files[path], *said)

    return {name: one(f"/tmp/{file}.o") for name, file in zip(texts, numbered, strict=True)}
