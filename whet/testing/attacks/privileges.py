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
    calls("mount", "reaches mount", 165, "0, 0, 0, 0, 0", "error == errno.EFAULT"),
    calls("clone3", "reaches clone3, whose flags no filter can see", 435, "0, 0", "error != errno.ENOSYS"),
    calls("setns", "reaches setns", 308, "-1, 0", "error == errno.EBADF"),
    calls("take-descriptor", "reaches pidfd_getfd", 438, "-1, 0, 0", "error == errno.EBADF"),
    calls("personality", "reaches personality, which can fix where memory lies", 135, "0xffffffff"),
    calls("clock", "reaches clock_settime", 227, "0, 0", "error == errno.EFAULT"),
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
        {"docker": ("capabilities+drop_privileges",)},
    ),
    Attack(
        "old-calls",
        "makes a keyring by the system calls of 32-bit programs",
        """
        import ctypes, mmap
        # push rbx; mov eax, keyctl; mov ebx, join; xor ecx, ecx; int 0x80; pop rbx; ret
        code = bytes.fromhex("53 b820010000 bb01000000 31c9 cd80 5b c3")
        page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        page.write(code)
        return ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))() >= 0
        """,
        ("seccomp",),
    ),
    Attack(
        "own-settings",
        "raises a limit that was set for it, or asks to be ended last where memory runs out",
        """
        import resource
        _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (hard * 2, hard * 2))
            return "limit"
        except ValueError:
            pass
        try:
            with open("/proc/self/oom_score_adj", "w") as file:
                file.write("-500")
            return "score"
        except PermissionError:
            return None
        """,
        why="the kernel lets none but the machine's administrator",
        tried=lambda value: value is None,
    ),
    Attack(
        "become-root",
        "changes its user to root",
        "import os\ntry:\n    os.setuid(0)\nexcept OSError:\n    pass\nreturn os.getuid() == 0",
        ("drop_privileges",),
    ),
)
