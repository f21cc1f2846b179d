"""Attacks by what one candidate leaves for the next."""

from __future__ import annotations

from whet.testing.attacks.attack import Attack
from whet.testing.attacks.processes import STUBBORN

ATTACKS = (
    Attack(
        "left-files",
        "finds what the candidate before it wrote",
        """
        import os
        return [folder for folder in ("/tmp", "/work", "/dev/shm", "/dev/mqueue") if os.path.exists(folder + "/left")]
        """,
        ("fresh_folders",),
        before="""
        import os
        for folder in ("/tmp", "/work", "/dev/shm", "/dev/mqueue"):
            if os.path.exists(folder):
                open(folder + "/left", "w").close()
        """,
    ),
    Attack(
        "left-processes",
        "finds a process that the candidate before it left running",
        """
        import os
        for name in set(os.listdir("/proc")) - {str(scene["pid"])}:
            try:
                if scene["mark"] in open(f"/proc/{name}/cmdline").read():
                    return name
            except OSError:
                pass
        """,
        ("pid_namespace",),
        before=STUBBORN,
        stays=True,
        slow=True,
    ),
    Attack(
        "left-memory",
        "finds System V memory of the host",
        "import ctypes\nreturn ctypes.CDLL(None).shmget(scene['key'], 1, 0) >= 0",
        ("seccomp+ipc_namespace",),
    ),
    Attack(
        "left-queues",
        "finds System V memory, semaphores and queues of the candidate before it",
        """
        import ctypes
        libc, key = ctypes.CDLL(None), scene["left"]
        return max(libc.shmget(key, 1, 0), libc.semget(key, 1, 0), libc.msgget(key, 0)) >= 0
        """,
        ("ipc_namespace",),
        {"docker": ("ipc_namespace", "fresh_folders")},
        before="""
        import ctypes
        libc, key = ctypes.CDLL(None), scene["left"]
        return libc.shmget(key, 1, 0o1666), libc.semget(key, 1, 0o1666), libc.msgget(key, 0o1666)
        """,
    ),
    Attack(
        "left-messages",
        "finds a POSIX message queue of the candidate before it",
        """
        import ctypes, os
        return ctypes.CDLL(None).mq_open(f"/whet-{scene['left']}".encode(), os.O_RDONLY) >= 0
        """,
        ("ipc_namespace",),
        {"docker": ("fresh_folders",)},
        before="""
        import ctypes, os
        os.umask(0)
        return ctypes.CDLL(None).mq_open(f"/whet-{scene['left']}".encode(), os.O_RDWR | os.O_CREAT, 0o666, None)
        """,
    ),
)
