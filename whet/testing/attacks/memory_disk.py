"""Attacks that take all there is: memory, disk, names of files, the reader's patience."""

from __future__ import annotations

from dataclasses import replace

from whet.core.task import MIB
from whet.testing.attacks.attack import LIMITS, MOST_DISK, MOST_MEMORY, Attack

HELD = 2.0
"""Seconds that memory is held, for the watchdog to look; it looks many times a second, later on a busy machine."""
ROOMY = replace(LIMITS, memory=1024 * MIB, output=64 * MIB)

ATTACKS = (
    Attack(
        "address-space",
        "reserves 8 GiB that it does not touch",
        """
        import mmap
        unreserved = 0x4000
        try:
            return len(mmap.mmap(-1, 8 << 30, mmap.MAP_PRIVATE | unreserved))
        except OSError:
            return 0
        """,
        ("address_limit",),
    ),
    Attack(
        "memory",
        f"one process fills {MOST_MEMORY // MIB} MiB",
        f"""
        import time
        kept = []
        for _ in range({MOST_MEMORY // (20 * MIB)}):
            kept.append(b"x" * (20 << 20))
            time.sleep(0.02)
        time.sleep({HELD})
        return len(kept)
        """,
        ("memory_limit",),
        slow=True,
    ),
    Attack(
        "memory-of-ten",
        f"ten children fill {MOST_MEMORY // MIB} MiB together, each below the limit",
        f"""
        import os, time
        pids = []
        for _ in range(10):
            pid = os.fork()
            if pid == 0:
                kept = b"x" * {MOST_MEMORY // 10}
                time.sleep({HELD})
                os._exit(len(kept) == 0)
            pids.append(pid)
        return all([os.waitpid(pid, 0)[1] == 0 for pid in pids])
        """,
        ("memory_limit",),
        slow=True,
    ),
    Attack(
        "memory-in-files",
        f"fills {MOST_MEMORY // MIB} MiB in files without a name, which no process maps",
        f"""
        import os, time
        kept = []
        try:
            for _ in range({MOST_MEMORY // (2 * MIB)}):
                kept.append(os.memfd_create("x"))
                os.write(kept[-1], bytes(2 << 20))
        except OSError:
            return False
        time.sleep({HELD})
        return True
        """,
        ("seccomp+memory_limit",),
        slow=True,
    ),
    Attack(
        "memory-in-segments",
        f"fills {MOST_MEMORY // MIB} MiB in System V segments, which no process has attached",
        f"""
        import ctypes, time
        libc = ctypes.CDLL(None)
        libc.shmat.restype, libc.shmdt.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
        for _ in range(10):
            number = libc.shmget(0, {MOST_MEMORY // 10}, 0o1600)
            if number < 0:
                return False
            place = libc.shmat(number, None, 0)
            ctypes.memset(place, 1, {MOST_MEMORY // 10})
            libc.shmdt(place)
        time.sleep({HELD})
        return True
        """,
        ("seccomp+memory_limit",),
        slow=True,
    ),
    Attack(
        "disk",
        f"writes {MOST_DISK // MIB} MiB in many files",
        f"""
        try:
            for number in range({MOST_DISK // (10 * MIB)}):
                with open(f"/tmp/{{number}}", "wb") as file:
                    file.write(bytes(10 << 20))
        except OSError:
            return False
        return True
        """,
        ("sized_folders",),
        limits=ROOMY,
        slow=True,
    ),
    Attack(
        "one-big-file",
        "makes a file larger than a run may return",
        """
        try:
            with open("/work/big", "wb") as file:
                file.seek(100 << 20)
                return file.write(b"x")
        except OSError:
            return 0
        """,
        ("file_limit",),
    ),
    Attack(
        "inodes",
        "makes 80,000 empty files",
        f"""
        import os, time
        try:
            for number in range(80_000):
                os.close(os.open(f"/tmp/{{number}}", os.O_CREAT | os.O_WRONLY))
        except OSError:
            return False
        time.sleep({HELD})
        return True
        """,
        ("inode_limit",),
        limits=ROOMY,
        seconds=30.0,
        slow=True,
    ),
    Attack(
        "answer-flood",
        "returns more than a run may return",
        "return b'x' * (20 << 20)",
        ("answer_limit",),
    ),
    Attack(
        "print-flood",
        "prints more than a run may return",
        # Past the limit that is kept inside, in the candidate's own process.
        "import sys\nsys.stdout.parts.append('x' * (20 << 20))\nreturn True",
        ("answer_limit",),
        escaped=lambda value: value is True,
    ),
    Attack(
        "stdout-flood",
        "a program writes more to stdout than a run may return",
        "/usr/bin/head -c 20000000 /dev/zero && echo through",
        ("file_limit+answer_limit",),
        shell=True,
        escaped=lambda value: isinstance(value, bytes) and value.endswith(b"through\n"),
    ),
    Attack(
        "stderr-flood",
        "a program writes more to stderr than a run may return",
        "/usr/bin/head -c 20000000 /dev/zero >&2 && echo through",
        ("file_limit",),
        shell=True,
    ),
)
