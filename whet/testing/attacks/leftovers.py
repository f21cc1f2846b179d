"""Attacks by what one candidate leaves for the next."""

from __future__ import annotations

from whet.testing.attacks.attack import Attack

ATTACKS = (
    Attack(
        "left-files",
        "finds what the candidate before it wrote",
        """
        import os
        return [p for p in ("/tmp/left", "/work/left", "/dev/shm/left") if os.path.exists(p)]
        """,
        ("fresh_folders",),
        before="""
        for path in ("/tmp/left", "/work/left", "/dev/shm/left"):
            open(path, "w").close()
        return True
        """,
    ),
    Attack(
        "left-memory",
        "finds System V memory of the host",
        "import ctypes\nreturn ctypes.CDLL(None).shmget(scene['key'], 1, 0) >= 0",
        ("ipc_namespace",),
    ),
    Attack(
        "left-queues",
        "finds System V memory, semaphores and queues of the candidate before it",
        """
        import ctypes
        libc = ctypes.CDLL(None)
        return max(libc.shmget(77, 1, 0), libc.semget(77, 1, 0), libc.msgget(77, 0)) >= 0
        """,
        before="""
        import ctypes
        libc = ctypes.CDLL(None)
        return libc.shmget(77, 1, 0o1666), libc.semget(77, 1, 0o1666), libc.msgget(77, 0o1666)
        """,
    ),
)
