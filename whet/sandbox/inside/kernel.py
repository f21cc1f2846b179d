"""System calls that Python has no function for."""

from __future__ import annotations

import ctypes
import os

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_CAPBSET_DROP = 1, 4, 22, 24
PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL = 38, 47, 4
SECCOMP_MODE_FILTER = 2
CAPABILITY_VERSION_3 = 0x20080522
INSTRUCTION = 8
"""Bytes of one instruction of a filter."""
STATUS_BYTES = 1 << 16
"""More than /proc/self/status holds."""

CLONE_NEWNS, CLONE_NEWIPC, CLONE_NEWPID = 0x00020000, 0x08000000, 0x20000000
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE, MS_SLAVE = 32, 4096, 16384, 1 << 18, 1 << 19

_libc = ctypes.CDLL(None, use_errno=True)


class _Filter(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def _call(name: str, *arguments: object) -> int:
    result: int = getattr(_libc, name)(*arguments)
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return result


def prctl(option: int, *arguments: int) -> int:
    """Changes or asks for something of this process; see prctl(2)."""
    return _call("prctl", option, *(ctypes.c_ulong(value) for value in (*arguments, 0, 0, 0, 0)[:4]))


def unshare(namespaces: int) -> None:
    """Gives this process, or for PIDs its children, namespaces of their own."""
    _call("unshare", namespaces)


def mount(source: str, target: str, kind: str = "", flags: int = 0, data: str = "") -> None:
    """Mounts a file system; see mount(2)."""
    _call("mount", source.encode(), target.encode(), kind.encode(), ctypes.c_ulong(flags), data.encode())


def drop_capabilities() -> None:
    """Gives up all rights of an administrator, those that a program could win back by starting another included."""
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL)
    held = _bounding_set()
    for number in range(held.bit_length()):
        if held >> number & 1:
            prctl(PR_CAPBSET_DROP, number)
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION_3, 0)
    _call("capset", header, (ctypes.c_uint32 * 6)())


def _bounding_set() -> int:
    # In every fork: so no forty questions to the kernel, and no file object with its decoder, for one number.
    status = os.open("/proc/self/status", os.O_RDONLY | os.O_CLOEXEC)
    try:
        text = os.read(status, STATUS_BYTES)
    finally:
        os.close(status)
    return int(text.partition(b"\nCapBnd:")[2].split(None, 1)[0], 16)


def no_new_privileges() -> None:
    """Nothing that this process starts can have more rights than it has."""
    prctl(PR_SET_NO_NEW_PRIVS, 1)


def filter_calls(program: bytes) -> None:
    """Loads a seccomp filter, compiled; for ever, and for all that this process starts."""
    loaded = _Filter(len(program) // INSTRUCTION, program)
    _call("prctl", PR_SET_SECCOMP, ctypes.c_ulong(SECCOMP_MODE_FILTER), ctypes.byref(loaded))
