"""Runs an input on both functions of a pair, natively or under qemu, and tells whether they differ.

Each runs in a process of its own, with buffers that end before pages that nobody may touch. On x86-64 the registers
that a function must keep are looked at too.
"""

from __future__ import annotations

import shutil
import struct
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from whet.core.signature import Argument, Role, Signature
from whet.evaluators.prove.calling import bits, floating
from whet.evaluators.prove.proof import Code, Inputs, Plain, Replay
from whet.testing.proofs.corpus import PREFIXES

SECONDS = 10
"""Wall seconds of one run of a function, natively or under qemu; one that takes longer counts as endless. A smaller
value takes slow runs on a busy machine for endless, a larger one only waits longer for those that are."""
EMULATORS = {"x86_64": (), "aarch64": ("qemu-aarch64", "-L", "/usr/aarch64-linux-gnu")}
LETTERS = {8: "b", 16: "h", 32: "i", 64: "q"}
PAGES = 0x4000
"""Bytes of a buffer's room and of each protected region around it: a multiple of pages of 4 and of 16 KiB, as mprotect
takes whole pages only. A buffer may be as long; a larger value admits longer ones and larger pages."""
MAIN = """\
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
extern {prototype};
static unsigned char *region(int size) {{
    unsigned char *all = mmap(0, 3 * {pages}, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(all + {pages}, {pages}, PROT_READ | PROT_WRITE);
    return all + 2 * {pages} - size;
}}
static void lock(unsigned char *end) {{ mprotect(end - {pages}, {pages}, PROT_READ); }}
static void show(const void *bytes, int count) {{
    for (int i = 0; i < count; i++) printf("%02x", ((const unsigned char *)bytes)[i]);
    printf("\\n");
}}
{probe}
int main(void) {{
{body}
    return 0;
}}
"""
PROBE = """\
uint64_t kept[8], broken;
void *target = f;
extern char probe[];
__asm__(
    ".text\\nprobe:\\n"
    "push %rbx\\n push %rbp\\n push %r12\\n push %r13\\n push %r14\\n push %r15\\n sub $8, %rsp\\n"
    "mov %rsp, kept(%rip)\\n"
    "mov $0x1111111111111111, %rbx\\n mov %rbx, %rbp\\n mov %rbx, %r12\\n mov %rbx, %r13\\n"
    "mov %rbx, %r14\\n mov %rbx, %r15\\n"
    "call *target(%rip)\\n"
    "cmp %rsp, kept(%rip)\\n jne 1f\\n"
    "mov $0x1111111111111111, %rcx\\n"
    "cmp %rcx, %rbx\\n jne 1f\\n cmp %rcx, %rbp\\n jne 1f\\n cmp %rcx, %r12\\n jne 1f\\n"
    "cmp %rcx, %r13\\n jne 1f\\n cmp %rcx, %r14\\n jne 1f\\n cmp %rcx, %r15\\n jne 1f\\n"
    "pushf\\n pop %rcx\\n test $0x400, %ecx\\n jz 2f\\n"
    "1: movq $1, broken(%rip)\\n"
    "2: cld\\n mov kept(%rip), %rsp\\n add $8, %rsp\\n"
    "pop %r15\\n pop %r14\\n pop %r13\\n pop %r12\\n pop %rbp\\n pop %rbx\\n ret\\n");
"""


def replay_of(baseline: Code, candidate: Code, signature: Signature) -> Replay:
    """Returns what tells whether two functions differ on an input."""

    def replay(inputs: Inputs) -> bool | None:
        ours, theirs = (_outcome(code, signature, inputs) for code in (baseline, candidate))
        return None if ours is None or theirs is None else ours != theirs

    return replay


def _outcome(code: Code, signature: Signature, inputs: Inputs) -> str | None:
    """Returns what a function did with an input; None where this machine cannot run it."""
    emulator = EMULATORS[code.isa]
    if emulator and shutil.which(emulator[0]) is None:
        return None
    with tempfile.TemporaryDirectory(prefix="whet-replay-") as name:
        folder = Path(name)
        (folder / "side.o").write_bytes(code.object)
        (folder / "main.c").write_text(_main(code, signature, inputs))
        command = [f"{PREFIXES[code.isa]}gcc", "-O1", "-no-pie", "main.c", "side.o", "-o", "main"]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
        try:
            return subprocess.run(
                [*emulator, "./main"], cwd=folder, check=True, capture_output=True, text=True, timeout=SECONDS
            ).stdout
        except subprocess.TimeoutExpired:
            return "it does not end"
        except subprocess.CalledProcessError:
            return "it crashes"


def _main(code: Code, signature: Signature, inputs: Inputs) -> str:
    lines = _buffers(signature, inputs)
    call, probe = "f", ""
    if code.isa == "x86_64":
        call, probe = "((__typeof__(f) *)(void *)probe)", PROBE
    given = ", ".join(one.name if one.buffer else _number(one, inputs.values[one.name]) for one in signature.arguments)
    if signature.returns is None:
        lines.append(f"    {call}({given});")
    else:
        lines += [f"    __typeof__(f({given})) result = {call}({given});", "    show(&result, sizeof result);"]
    for one in signature.arguments:
        if one.buffer and one.role is not Role.IN:
            lines.append(f"    show((void *){one.name}, {_bytes(one, inputs.values)});")
    if probe:
        lines.append('    if (broken) printf("registers are not kept\\n");')
    return MAIN.format(prototype=signature.prototype, body="\n".join(lines), probe=probe, pages=PAGES)


def _buffers(signature: Signature, inputs: Inputs) -> list[str]:
    buffers = [one for one in signature.arguments if one.buffer]
    overlap = inputs.overlap
    lines, locked = [], []
    for one in buffers:
        size = _bytes(one, inputs.values)
        if overlap is not None and one.name == overlap.other:
            lines.append(f"    unsigned char *at_{one.name} = at_{overlap.name} + ({overlap.offset});")
        else:
            room = size
            if overlap is not None and one.name == overlap.name:
                other = next(two for two in buffers if two.name == overlap.other)
                room = max(size, _bytes(other, inputs.values) + overlap.offset)
            lines.append(f"    unsigned char *at_{one.name} = region({room});")
            if one.role is Role.IN and overlap is None and size:
                locked.append(f"    lock(at_{one.name} + {size});")
        data = _raw(one, inputs.values[one.name])
        lines.append(f"    memcpy(at_{one.name}, (unsigned char[]){{{', '.join(map(str, data)) or '0'}}}, {size});")
        lines.append(f"    void *{one.name} = at_{one.name};")
    return lines + locked


def _bytes(one: Argument, values: Mapping[str, Plain]) -> int:
    value = values[one.name]
    assert isinstance(value, tuple)
    return len(value) * bits(one.type) // 8


def _raw(one: Argument, value: Plain) -> Sequence[int]:
    assert isinstance(value, tuple)
    width = bits(one.type)
    letter = {32: "f", 64: "d"}[width] if floating(one.type) else LETTERS[width]
    letter = letter.upper() if one.type.startswith("u") else letter
    return struct.pack(f"<{len(value)}{letter}", *value)


def _number(one: Argument, value: Plain) -> str:
    assert not isinstance(value, tuple)
    if not floating(one.type):
        return f"({one.type}_t){value % (1 << bits(one.type))}ull"
    raw = struct.pack("<f" if one.type == "float32" else "<d", value)
    kind, integer = ("float", "uint32_t") if one.type == "float32" else ("double", "uint64_t")
    return f"((union {{ {integer} bits; {kind} number; }}){{ {int.from_bytes(raw, 'little')}u }}).number"
