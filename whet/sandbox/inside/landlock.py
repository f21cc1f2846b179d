"""The layer behind the sandbox's walls: rules that the kernel keeps for one process and all that it starts.

Landlock, as https://docs.kernel.org/userspace-api/landlock.html describes it. A kernel that knows an older version
keeps the part of the rules that it knows; one that knows none keeps none.
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself would cost each start 8 ms
    from collections.abc import Sequence
    from typing import Any

# The numbers are the same on every architecture.
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
ASK_VERSION = 1
PATH_BENEATH = 1
PR_SET_NO_NEW_PRIVS = 38

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = (1 << bit for bit in range(4))
TRUNCATE, IOCTL = 1 << 14, 1 << 15
READ = EXECUTE | READ_FILE | READ_DIR
FILE = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL
"""The rights that mean something for what is not a folder."""
FILE_RIGHTS = (0, 13, 14, 15, 15, 16)
"""How many rights over files a version knows; later ones know as many as the last."""
NETWORK_VERSION, NETWORK_RIGHTS = 4, 0b11
"""To bind and to connect TCP sockets."""
SCOPE_VERSION, SCOPES = 6, 0b11
"""Abstract sockets and signals: none to a process outside."""
LIBC = ctypes.CDLL(None, use_errno=True)


def version() -> int:
    """Returns the version of the rules that this kernel knows; 0 where it keeps none."""
    known: int = LIBC.syscall(CREATE_RULESET, None, 0, ASK_VERSION)
    return max(0, known)


def make_rules(readable: Sequence[str], writable: Sequence[str], protocols: Sequence[str] = ()) -> int | None:
    """Returns a descriptor of rules for `enter`; None where this kernel keeps none.

    Args:
        readable: files, and folders with all below them, that may be read and executed; missing ones are left out.
        writable: those to which anything may be done, devices' own commands included.
        protocols: ``tcp`` where its sockets are left to the walls in front.

    Raises:
        OSError: the kernel knows such rules, and refuses these.
    """
    known = version()
    if not known:
        return None
    rights = (1 << FILE_RIGHTS[min(known, len(FILE_RIGHTS) - 1)]) - 1
    network = NETWORK_RIGHTS if known >= NETWORK_VERSION and "tcp" not in protocols else 0
    scopes = SCOPES if known >= SCOPE_VERSION else 0
    ruleset = _checked(CREATE_RULESET, struct.pack("=QQQ", rights, network, scopes), 24, 0)
    for paths, given in ((readable, READ), (writable, rights)):
        for path in paths:
            _allow(ruleset, path, given)
    return ruleset


def enter(ruleset: int) -> None:
    """Takes from this thread, and from all that it starts, what the rules do not give. There is no way back.

    No TCP socket can be bound or connected then unless they leave it, and no process outside can be signalled.

    Raises:
        OSError: the kernel refuses.
    """
    LIBC.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    _checked(RESTRICT_SELF, ruleset, 0)


def restrict(readable: Sequence[str], writable: Sequence[str], protocols: Sequence[str] = ()) -> None:
    """Makes rules, where this kernel keeps any, and enters them; see `make_rules` and `enter`."""
    ruleset = make_rules(readable, writable, protocols)
    if ruleset is not None:
        enter(ruleset)
        os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(place).st_mode):
            rights &= FILE
        _checked(ADD_RULE, ruleset, PATH_BENEATH, struct.pack("=Qi", rights, place), 0)
    finally:
        os.close(place)


def _checked(number: int, *arguments: Any) -> int:
    answer: int = LIBC.syscall(number, *arguments)
    if answer < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"landlock: {os.strerror(code)}")
    return answer
