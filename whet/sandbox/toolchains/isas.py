"""Instruction sets: which tools make and run code for them here."""

from __future__ import annotations

import platform
import shutil
from dataclasses import dataclass
from pathlib import Path

PATH = "/usr/local/bin:/usr/bin:/bin"


@dataclass(frozen=True, slots=True)
class Isa:
    """An instruction set of 64 bits, as Linux has it.

    Attributes:
        name: as ``uname -m`` has it, and ``isa`` of a ``whet.toml``.
        compiler: Debian's package of the compiler that makes code for it elsewhere.
        headers: the same of its C library.
        cpu: what qemu shows of extensions: all that it has.
    """

    name: str
    compiler: str
    headers: str
    cpu: str

    @property
    def native(self) -> bool:
        """Whether this machine runs it without an emulator."""
        return platform.machine() == self.name

    def tool(self, name: str) -> str:
        """Returns the name of a tool of gcc or binutils for it."""
        return name if self.native else f"{self.name}-linux-gnu-{name}"

    @property
    def emulator(self) -> tuple[str, ...]:
        """The words that run a program in an emulator, whether or not one is needed."""
        return f"qemu-{self.name}", "-cpu", self.cpu, "-L", f"/usr/{self.name}-linux-gnu"

    @property
    def runner(self) -> tuple[str, ...]:
        """The words before a program: an emulator, where one is needed."""
        return () if self.native else self.emulator

    def lacking(self) -> Lacking | None:
        """Returns the first thing that is needed and not installed."""
        wanted = {self.tool("gcc"): "gcc" if self.native else self.compiler}
        wanted |= {} if self.native else {self.runner[0]: "qemu-user"}
        for tool, package in wanted.items():
            if shutil.which(tool, path=PATH) is None:
                return Lacking(tool, package)
        header = Path("/usr/include/stdio.h" if self.native else f"/usr/{self.name}-linux-gnu/include/stdio.h")
        return None if header.exists() else Lacking(str(header), "libc6-dev" if self.native else self.headers)


@dataclass(frozen=True, slots=True)
class Lacking:
    """A tool or file that is not installed, and Debian's package that holds it."""

    tool: str
    package: str

    def __str__(self) -> str:
        return f"{self.tool} not found; install with: apt-get install {self.package}"


ISAS = {
    one.name: one
    for one in (
        Isa("x86_64", "gcc-x86-64-linux-gnu", "libc6-dev-amd64-cross", "max"),
        Isa("aarch64", "gcc-aarch64-linux-gnu", "libc6-dev-arm64-cross", "max"),
        Isa(
            "riscv64", "gcc-riscv64-linux-gnu", "libc6-dev-riscv64-cross",
            "rv64,v=true,zba=true,zbb=true,zbc=true,zbs=true",
        ),
    )
}  # fmt: skip
"""By their names."""
