"""Finds what a shared object keeps between calls: its variables, as the symbol tables of its ELF file name them."""

from __future__ import annotations

import struct

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself would cost each start 8 ms
    from collections.abc import Iterator

LARGEST = 1 << 16
"""Bytes of a variable that is looked at after each call; a larger one is a table rather than state."""
SYMBOLS, DYNAMIC = 2, 11
"""Types of the sections that hold all symbols of a file, and those that others can see."""
OBJECT, THREAD_LOCAL = 1, 6
WRITABLE = (".data", ".bss", ".tdata", ".tbss")
CONSTANT = ".data.rel.ro"
"""Written while the file is loaded, and never again."""
FOREIGN = ("__", "_ZT", "_ZZ", "_ZG", "_ZSt", "_ZNSt", "_ZNKSt", "_ZN9__gnu_cxx", "_ZN10__cxxabiv1")
"""How names begin that are no variables of the source's own: of compilers, of static locals, of C++'s library."""
OF_EACH_FILE = ("__dso_handle", "_ZStL8__ioinit", "completed.", "DW.ref.")
"""How names begin of what compilers and the headers of C++ put into any shared object."""
ELF64 = b"\x7fELF\x02\x01"
"""How a file of 64 bits begins whose numbers are little-endian."""


def exported(file: bytes) -> dict[str, int]:
    """Returns the size of each variable that other files can name and that calls may write.

    Args:
        file: a shared object.

    Raises:
        ValueError, struct.error: it is none.
    """
    found = _variables(file, DYNAMIC)
    return {name: size for name, size in found if 0 < size <= LARGEST and not name.startswith(FOREIGN)}


def keeps_state(file: bytes) -> bool:
    """Whether a shared object has any variable that outlives a call, exported or not, static locals among them.

    Raises:
        ValueError, struct.error: it is no shared object.
    """
    found = [*_variables(file, SYMBOLS), *_variables(file, DYNAMIC)]
    return any(size and not name.startswith(OF_EACH_FILE) for name, size in found)


def _variables(file: bytes, table: int) -> Iterator[tuple[str, int]]:
    """Yields the name and the size of each variable in the symbol table of a type."""
    if not file.startswith(ELF64):
        raise ValueError("no ELF file of 64 bits")
    (start,) = struct.unpack_from("<Q", file, 0x28)
    size, count, names = struct.unpack_from("<HHH", file, 0x3A)
    sections = [struct.unpack_from("<IIQQQQIIQQ", file, start + number * size) for number in range(count)]
    writable = {
        number
        for number, section in enumerate(sections)
        if (name := _text(file, sections[names][4] + section[0])).startswith(WRITABLE) and not name.startswith(CONSTANT)
    }
    for section in sections:
        if section[1] != table:
            continue
        texts = sections[section[6]][4]
        for at in range(section[4], section[4] + section[5], 24):
            name, info, _, where, _, length = struct.unpack_from("<IBBHQQ", file, at)
            if info & 15 in (OBJECT, THREAD_LOCAL) and where in writable:
                yield _text(file, texts + name), length


def _text(file: bytes, at: int) -> str:
    return file[at : file.index(b"\0", at)].decode("utf-8", "replace")
