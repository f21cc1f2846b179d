"""Attacks by system calls that no candidate needs, and by rights that none has."""

from __future__ import annotations

from whet.testing.attacks.attack import Attack


def calls(name: str, what: str, number: int, arguments: str, reached: str = "got >= 0") -> Attack:
    """Returns an attack that makes one system call, by its number on x86-64."""
    source = f"""
        import ctypes, errno
        libc = ctypes.CDLL(None, use_errno=True)
        got = libc.syscall({number}, {arguments})
        error = ctypes.get_errno()
        return {reached}
        """
    return Attack(name, what, source, ("seccomp",))


ATTACKS = (
    calls("user-namespace", "makes a user namespace, in which it has all rights", 272, "0x10000000"),
    calls("keyring", "makes a keyring of its session", 250, "1, 0"),
    calls("io-uring", "reaches io_uring", 425, "1, 0", "error == errno.EFAULT"),
    calls("userfaultfd", "gets a userfaultfd for user faults", 323, "1"),
    calls("perf", "reaches perf_event_open", 298, "0, 0, -1, -1, 0", "error == errno.EFAULT"),
    Attack(
        "own-rights",
        "opens a file that its mode forbids to all but an administrator",
        """
        import os
        os.close(os.open("/tmp/closed", os.O_CREAT | os.O_WRONLY, 0))
        try:
            os.close(os.open("/tmp/closed", os.O_RDONLY))
            return True
        except OSError:
            return False
        """,
        ("capabilities",),
    ),
    Attack(
        "become-root",
        "changes its user to root",
        "import os\ntry:\n    os.setuid(0)\nexcept OSError:\n    pass\nreturn os.getuid() == 0",
        ("drop_privileges",),
    ),
)
