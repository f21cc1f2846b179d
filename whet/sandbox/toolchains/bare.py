"""A program that calls a native function once an input, and does nothing else: in an interpreter's run, what is counted
is the interpreter's too."""

from __future__ import annotations

import shlex
import struct
from collections.abc import Sequence
from string import Template
from typing import Any

from whet.core.errors import SandboxError
from whet.core.signature import Role, Signature
from whet.core.task import Task
from whet.sandbox.inside.lengths import evaluate
from whet.sandbox.inside.native_target import element_bytes
from whet.sandbox.inside.native_values import SIZES, TYPES
from whet.sandbox.interpreter import Interpreter
from whet.sandbox.protocol import Sandbox
from whet.sandbox.toolchains.caller import SYMBOL, caller_text
from whet.sandbox.toolchains.native import Diagnostics, compiler, run_compiler

NUMBER = -1
"""Instead of the size of a buffer: the argument is a number."""
TEXT = Template("""\
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void take(void *to, int64_t size) {
    for (char *at = to; size > 0;) {
        ssize_t had = read(0, at, size);
        if (had <= 0) _exit(2);
        at += had;
        size -= had;
    }
}

static int64_t taken(void) {
    int64_t number;
    take(&number, sizeof number);
    return number;
}

int main(int argc, char **argv) {
    int64_t calls = taken(), all = calls * taken();
    char (*given)[8] = calloc(all + 1, 8), (*returned)[8] = calloc(calls + 1, 8);
    for (int64_t i = 0; i < all; i++) {
        int64_t size = taken(), align = taken();
        if (size < 0) {
            take(given[i], 8);
            continue;
        }
        void *place = aligned_alloc(align, (size / align + 1) * align);
        if (!place) return 3;
        take(place, size);
        memcpy(given[i], &place, sizeof place);
    }
    void *library = argc == 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
    void (*call)(void *, int64_t, void *, int64_t) = library ? dlsym(library, "$symbol") : NULL;
    if (!call) return 4;
    call(given, calls, returned, 1);
    _exit(0);
}
""").substitute(symbol=SYMBOL)
LEAST_ALIGN = 64
"""Bytes: a line of the caches of most processors."""


def is_called_bare(task: Task) -> bool:
    """Whether a task's function is a native one that has a caller linked to it."""
    return task.signature is not None and task.launch is None and caller_text(task.signature, "f") != ""


def bare_program(sandbox: Sandbox, interpreter: Interpreter) -> bytes:
    """Returns the program: it takes the path of a library with a caller (see `caller`), and the calls on stdin.

    Raises:
        SandboxError: it cannot be compiled.
        UsageError: there is no compiler.
    """
    made = "/tmp/bare"
    steps = [f"{shlex.quote(compiler('c'))} -O1 -x c - -o {made} -ldl"]
    built = run_compiler(sandbox, interpreter, steps, TEXT.encode(), [made])
    if isinstance(built, Diagnostics):
        raise SandboxError(f"what calls a function alone does not compile: {built.text}")
    return built[0]


def packed(signature: Signature, inputs: Sequence[Sequence[Any]]) -> bytes:
    """Returns the calls as the program reads them.

    Args:
        signature: of the function, whose types fit into 8 bytes.
        inputs: of each call, the decoded arguments without those buffers that are only written.
    """
    pieces = [struct.pack("<2q", len(inputs), len(signature.arguments))]
    for one in inputs:
        values = dict(zip((argument.name for argument in signature.given), one, strict=True))
        numbers = {a.name: values[a.name] for a in signature.given if not a.buffer}
        for argument in signature.arguments:
            if not argument.buffer:
                number = bytes(TYPES[argument.type](numbers[argument.name])).ljust(8, b"\0")
                pieces += [struct.pack("<2q", NUMBER, 1), number]
                continue
            data = (
                bytes(evaluate(argument.length, numbers) * SIZES[argument.type])
                if argument.role is Role.OUT
                else element_bytes(values[argument.name], argument.type, argument.name)
            )
            pieces += [struct.pack("<2q", len(data), max(argument.align, LEAST_ALIGN)), data]
    return b"".join(pieces)
