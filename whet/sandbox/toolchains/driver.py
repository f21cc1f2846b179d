"""The driver that calls a native function: compiled once for each instruction set, joined with each object under test.

The object becomes a shared library, which the driver loads: that takes a few milliseconds, where linking the driver
itself would take twenty and, for another instruction set, a hundred.
"""

from __future__ import annotations

import hashlib
import shlex
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from whet.core.errors import SandboxError
from whet.core.task import Limits
from whet.sandbox import driver
from whet.sandbox.interpreter import Interpreter
from whet.sandbox.protocol import Incident, Job, Sandbox
from whet.sandbox.toolchains.isas import Isa
from whet.sandbox.toolchains.steps import run_steps

FLAGS = "-O2 -rdynamic -Wl,--no-as-needed"
UNLINKED = 99
"""Exit code where no library could be made of the object."""
LOG = "steps.log"
COUNTED = "/tmp/made.o"
"""What the compiler called an object that counts its branches: where its counts go follows from that."""
LIMITS = Limits(seconds=60.0)
SPARE_SECONDS = 10.0
"""Beside what the calls may take: linking, loading, and an emulator's start."""


@dataclass(frozen=True, slots=True)
class DriverRun:
    """What came of one run of the driver.

    Attributes:
        code: its exit code, negative for a signal; None where it had to be ended.
        output: the bytes that it wrote: hostile, as the function runs in its process.
        said: what the linker or the driver said.
        incident: why it was ended.
        log: what the emulator wrote of the instructions in the range asked for, or gcov of branches.
    """

    code: int | None
    output: bytes = b""
    said: str = ""
    incident: Incident | None = None
    log: bytes = b""

    @property
    def unlinked(self) -> bool:
        """Whether no library could be made of the object."""
        return self.code == UNLINKED


class Driver:
    """Runs functions of one instruction set. Safe for several threads.

    Args:
        sandbox: where it is compiled, and runs.
        interpreter: runs our program inside.
        isa: of the functions; its tools must be installed (`Isa.lacking`).
        externs: functions that the code under test may call: each call of them looks at the stack pointer first.
    """

    def __init__(self, sandbox: Sandbox, interpreter: Interpreter, isa: Isa, externs: Sequence[str] = ()) -> None:
        self.isa = isa
        self._sandbox = sandbox
        self._interpreter = interpreter
        self._externs = tuple(externs)
        self._lock = threading.Lock()
        self._made: dict[str, bytes] = {}

    def run(
        self,
        subject: bytes,
        symbol: str,
        cases: bytes,
        seconds: float,
        limits: Limits = LIMITS,
        logged: tuple[int, int] | None = None,
        notes: bytes = b"",
    ) -> DriverRun:
        """Calls a function on cases.

        Args:
            subject: a relocatable object that holds it.
            symbol: its name there.
            cases: as `whet.evaluators.abi.wire` packs them.
            seconds: that all calls together may take.
            limits: memory, processes and output of the process.
            logged: first and last address of the instructions that an emulator logs one by one.
            notes: gcov's notes of an object that counts its branches, whose report is the log then.
        """
        files = self._files() | {"subject.o": subject} | ({"subject.gcno": notes} if notes else {})
        library = files.pop("libgcc").decode().strip()
        digest = hashlib.sha256(b"".join(files.values())).hexdigest()[:24]
        tree = self._sandbox.stage(f"driver-{digest}", files, executable=True)
        job = Job("programs", self._interpreter, tree, replace(limits, seconds=seconds + SPARE_SECONDS), preload=())
        session = self._sandbox.open(job)
        try:
            script = self._script(symbol, session.tree, library, logged)
            if notes:
                script = self._counting(symbol, session.tree, library)
            session.ask("prepare", ["/bin/sh", "-c", script], cases, seconds=SPARE_SECONDS)
            answer, _ = session.ask("go", seconds=seconds + SPARE_SECONDS)
            (_, output, said), _ = session.ask("output", seconds=SPARE_SECONDS)
            if answer[0] != "done":
                raise SandboxError(f"the driver could not be started: {answer[2]}")
            log = session.ask("read", LOG, seconds=SPARE_SECONDS)[0][1] if (logged or notes) and answer[1] == 0 else b""
            return DriverRun(answer[1], output, said.decode("utf-8", "replace").strip(), log=log)
        except Incident as incident:
            return DriverRun(None, incident=incident, said=str(incident))
        finally:
            session.close()

    def _linking(self, tree: str, *libraries: str) -> str:
        linker = [self.isa.tool("ld"), "-shared", "-Bsymbolic", "-z", "text", "-z", "noexecstack", "--no-relax"]
        linker += [f"--wrap={name}" for name in self._externs]
        linker += ["-o", "subject.so", f"{tree}/subject.o", f"{tree}/checks.o", *libraries]
        return f"{shlex.join(linker)} >&2 || exit {UNLINKED}"

    def _script(self, symbol: str, tree: str, library: str, logged: tuple[int, int] | None) -> str:
        runner = list(self.isa.emulator if logged else self.isa.runner)
        if logged:
            runner += ["-singlestep", "-d", "nochain,exec", "-D", LOG, "-dfilter", f"{logged[0]:#x}..{logged[1]:#x}"]
        program = [*runner, f"{tree}/driver", "./subject.so", symbol]
        return f"{self._linking(tree, library)}; exec {shlex.join(program)}"

    def _counting(self, symbol: str, tree: str, library: str) -> str:
        program = shlex.join([f"{tree}/driver", "./subject.so", symbol])
        stem = COUNTED.removesuffix(".o")
        report = f"cp {tree}/subject.gcno {stem}.gcno && gcov -b -t --json-format {stem}.gcda > {LOG}"
        return f"{self._linking(tree, str(Path(library).with_name('libgcov.a')), library)}; {program} && {report}"

    def _files(self) -> dict[str, bytes]:
        with self._lock:
            if not self._made:
                self._made = self._compiled()
            return self._made

    def _compiled(self) -> dict[str, bytes]:
        """Returns the driver, and what is linked to each object.

        Raises:
            SandboxError: it does not compile.
        """
        folder = Path(driver.__file__).parent
        texts = {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix in (".c", ".h", ".S")}
        texts["checks.S"] = "\n".join(CHECK[self.isa.name].format(name=name) for name in self._externs).encode()
        texts["checks.S"] += HANDLE + b'\n.section .note.GNU-stack, "", %progbits\n'
        digest = hashlib.sha256(b"".join(texts.values()) + self.isa.name.encode()).hexdigest()[:24]
        gcc = self.isa.tool("gcc")
        steps = [
            f"{gcc} {FLAGS} $TREE/driver.c $TREE/{self.isa.name}.S -o driver -ldl -lm",
            f"{gcc} -c $TREE/checks.S -o checks.o",
            f"{gcc} -print-libgcc-file-name > libgcc",
        ]
        made = ("driver", "checks.o", "libgcc")
        tree = self._sandbox.stage(f"driver-{digest}", texts)
        done = run_steps(self._sandbox, self._interpreter, steps, tree, [f"/tmp/{name}" for name in made])
        if done.code != 0:
            raise SandboxError(f"the driver does not compile: {done.said.strip()[-400:]}")
        return {name: done.files[f"/tmp/{name}"] for name in made}


HANDLE = b"\n.hidden __dso_handle\n.globl __dso_handle\n.data\n.balign 8\n__dso_handle: .8byte 0\n"
"""What start files give a library otherwise: C++ names it where it has the destructor of a global called at the end."""
CHECK = {
    "x86_64": """\
    .text
    .globl __wrap_{name}
    .type __wrap_{name}, @function
__wrap_{name}:
    mov whet_misuse@GOTPCREL(%rip), %r10
    mov %esp, %r11d
    and $15, %r11d
    cmp $8, %r11d
    je 1f
    orl $1, (%r10)
1:  pushfq
    pop %r11
    test $0x400, %r11d
    jz 2f
    orl $2, (%r10)
2:  jmp __real_{name}@PLT
    .size __wrap_{name}, . - __wrap_{name}
""",
    "aarch64": """\
    .text
    .globl __wrap_{name}
    .type __wrap_{name}, %function
__wrap_{name}:
    mov x16, sp
    tst x16, 15
    b.eq 1f
    adrp x16, :got:whet_misuse
    ldr x16, [x16, :got_lo12:whet_misuse]
    mov x17, 1
    str x17, [x16]
1:  b __real_{name}
    .size __wrap_{name}, . - __wrap_{name}
""",
    "riscv64": """\
    .text
    .globl __wrap_{name}
    .type __wrap_{name}, @function
__wrap_{name}:
    andi t1, sp, 15
    beqz t1, 1f
    la t1, whet_misuse
    li t2, 1
    sd t2, 0(t1)
1:  tail __real_{name}@plt
    .size __wrap_{name}, . - __wrap_{name}
""",
}
"""What stands before a function that the code under test calls: it tells the driver of a call that breaks the ABI."""
