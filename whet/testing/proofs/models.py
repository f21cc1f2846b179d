"""Whether the first engine's models of instructions are right: what it says of one against what the machine does.

``python -m whet.testing.proofs.models ISA [FIRST LAST]`` runs each form of an instruction on drawn values, natively or
under qemu, and prints those of which the engine says something else, and those that it does not follow. It imports the
engines, so it is a program of its own.
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from whet.core.signature import Argument, Role, Signature
from whet.evaluators.prove.proof import Code
from whet.testing.proofs.corpus import PREFIXES
from whet.testing.proofs.forms import forms
from whet.testing.proofs.replay import EMULATORS

WIDTH, WRITTEN = 32, 48
"""Bytes of each input, and of what an instruction leaves behind."""
DRAWN = 24
"""Pairs of inputs on which each form is tried, on the machine and in the engine. More find rarer disagreements, and
take time in proportion; fewer miss some of `EDGES`."""
SEED = 5
EDGES = {
    1: (0, 1, 0x7F, 0x80, 0xFF),
    2: (0, 1, 0x7FFF, 0x8000, 0xFFFF),
    4: (0, 5, 31, 32, 33, 1 << 31, (1 << 32) - 1),
    8: (0, 5, 63, 64, 65, 1 << 63, (1 << 64) - 1),
}
"""Width in bytes -> values that instructions are touchy about."""
MACHINE = {"x86_64": (), "aarch64": ("-march=armv8.2-a",)}
"""Flags of the assembler."""
FRAMES = {
    "x86_64": (
        ".intel_syntax noprefix\n",
        "vmovdqu ymm0, [rdi]\nvmovdqu ymm1, [rsi]\nmov r11, rdx\nmov rax, [rdi]\nmov rcx, [rsi]\nxor edx, edx\n",
        "\nmov [r11], rax\nmov [r11 + 8], rdx\nvmovdqu [r11 + 16], ymm0\nvzeroupper\nret\n",
    ),
    "aarch64": (
        "",
        "mov x9, x2\nldr q0, [x0]\nldr q1, [x1]\nldr x3, [x0, 16]\nldr x4, [x1, 16]\nmov x5, 0\n",
        "\nstr x3, [x9]\nstr x5, [x9, 8]\nstr q0, [x9, 16]\nstr q1, [x9, 32]\nret\n",
    ),
}
"""What stands at the top, before each instruction, and behind it."""
MAIN = """\
#include <stdio.h>
typedef void form(const unsigned char *, const unsigned char *, unsigned char *);
{declared}
static form *forms[] = {{{names}}};
static const unsigned char inputs[][2][{width}] = {{{inputs}}};
int main(void) {{
    for (unsigned i = 0; i < sizeof forms / sizeof *forms; i++)
        for (unsigned k = 0; k < sizeof inputs / sizeof *inputs; k++) {{
            unsigned char out[{written}] = {{0}};
            forms[i](inputs[k][0], inputs[k][1], out);
            for (int j = 0; j < {written}; j++) printf("%02x", out[j]);
            printf("\\n");
        }}
    return 0;
}}
"""


def disagreements(isa: str, chosen: Mapping[str, str]) -> Iterator[str]:
    """Yields a line for each form that the engine does not follow, or of which it says something else than the machine.

    Args:
        isa: ``x86_64`` or ``aarch64``.
        chosen: the forms, by name.
    """
    inputs = list(_drawn())
    lines, data = _ran(isa, list(chosen.values()), inputs)
    for i, form in enumerate(chosen):
        machine = [bytes.fromhex(line) for line in lines[i * len(inputs) : (i + 1) * len(inputs)]]
        if (told := _compared(Code(data, f"f{i}", isa), inputs, machine)) is not None:
            yield f"{form}: {told}"


def _ran(isa: str, bodies: Sequence[str], inputs: Sequence[tuple[bytes, bytes]]) -> tuple[list[str], bytes]:
    """Returns what the machine leaves behind each form and input, and the object that holds the forms."""
    top, before, behind = FRAMES[isa]
    names = [f"f{i}" for i in range(len(bodies))]
    texts = [
        f".globl {name}\n.type {name}, %function\n{name}:\n{before}{body}{behind}.size {name}, .-{name}\n"
        for name, body in zip(names, bodies, strict=True)
    ]
    written = ["{{" + "},{".join(",".join(map(str, one)) for one in pair) + "}}" for pair in inputs]
    main = MAIN.format(
        declared="".join(f"extern form {name};\n" for name in names),
        names=", ".join(names),
        width=WIDTH,
        inputs=", ".join(written),
        written=WRITTEN,
    )
    with tempfile.TemporaryDirectory(prefix="whet-models-") as place:
        folder = Path(place)
        (folder / "forms.s").write_text(top + "".join(texts) + '.section .note.GNU-stack,"",%progbits\n')
        (folder / "main.c").write_text(main)
        compiler = f"{PREFIXES[isa]}gcc"
        subprocess.run([compiler, *MACHINE[isa], "-c", "forms.s"], cwd=folder, check=True)
        subprocess.run([compiler, "-no-pie", "main.c", "forms.o", "-o", "main"], cwd=folder, check=True)
        ran = subprocess.run([*EMULATORS[isa], "./main"], cwd=folder, check=True, capture_output=True, text=True)
        return ran.stdout.split(), (folder / "forms.o").read_bytes()


def _compared(code: Code, inputs: Sequence[tuple[bytes, bytes]], machine: Sequence[bytes]) -> str | None:
    import z3

    from whet.evaluators.prove.cases import Case
    from whet.evaluators.prove.execution import run
    from whet.evaluators.prove.image import Image
    from whet.evaluators.prove.layout import layout
    from whet.evaluators.prove.solver import to_z3

    signature = Signature("", None, (
        Argument("a", "uint8", Role.IN, str(WIDTH)), Argument("b", "uint8", Role.IN, str(WIDTH)),
        Argument("out", "uint8", Role.OUT, str(WRITTEN)),
    ))  # fmt: skip
    symbols = layout(signature, Case())
    found = run(Image(code), signature, symbols, time.monotonic() + 60, 10)
    if found.stopped is not None:
        return f"not followed: {found.stopped}"
    if found.faults:
        return f"differs: {found.faults[0].what}"
    elements = [to_z3(one) for name in ("a", "b") for one in symbols.buffers[name].elements]
    before = [(to_z3(one), z3.BitVecVal(0, 8)) for one in symbols.buffers["out"].elements]
    for given, left in zip(inputs, machine, strict=True):
        pairs = [(one, z3.BitVecVal(value, 8)) for one, value in zip(elements, b"".join(given), strict=True)] + before

        def at(one: Any, pairs: list[Any] = pairs) -> Any:
            return z3.simplify(z3.substitute(to_z3(one), *pairs))

        path = next(one for one in found.paths if z3.is_true(at(one.condition)))
        value = at(path.results["out"])
        if not z3.is_bv_value(value) or value.as_long() != int.from_bytes(left, "little"):
            return f"differs at {given[0].hex()} and {given[1].hex()}: {value}, and the machine has {left.hex()}"
    return None


def _drawn() -> Iterator[tuple[bytes, bytes]]:
    rng = random.Random(SEED)

    def vector() -> bytes:
        width = rng.choice((1, 2, 4, 8, WIDTH))
        if width == WIDTH:
            return rng.randbytes(WIDTH)
        return b"".join(rng.choice(EDGES[width]).to_bytes(width, "little") for _ in range(WIDTH // width))

    for _ in range(DRAWN):
        yield vector(), vector()


def main() -> None:
    """Prints what is told of each form, and how many there are."""
    import logging

    logging.disable(logging.CRITICAL)
    sys.setrecursionlimit(10_000)
    isa, *part = sys.argv[1:]
    chosen = dict(list(forms(isa).items())[slice(*map(int, part)) if part else slice(None)])
    told = []
    for line in disagreements(isa, chosen):
        told.append(line)
        print(line, flush=True)
    differing = sum(": differs" in line for line in told)
    same, unknown = len(chosen) - len(told), len(told) - differing
    print(f"{len(chosen)} forms: {same} the same, {differing} differ, {unknown} not followed")


if __name__ == "__main__":
    main()
