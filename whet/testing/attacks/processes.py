"""Attacks with processes: too many, too stubborn, or other people's."""

from __future__ import annotations

from whet.testing.attacks.attack import MOST_PROCESSES, Attack

STUBBORN = """
import os, signal
reader, writer = os.pipe()
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE):
                signal.signal(number, signal.SIG_IGN)
            os.execv("/bin/sleep", ["/bin/sleep", scene["mark"]])
        os._exit(0)
os.close(writer)
os.read(reader, 1)
"""
"""Goes on when the last grandchild has become another program, which closes its end of the pipe."""
NEIGHBOUR = """
import os
if os.fork() == 0:
    os.execv("/bin/sleep", ["/bin/sleep", scene["neighbour"]])
"""
SEEN = """
import os
def neighbours():
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and scene["neighbour"] in open(f"/proc/{name}/cmdline").read():
                yield int(name)
        except OSError:
            pass
"""
NEVER_SHARED = "no container shares the host's processes, whatever is off"

ATTACKS = (
    Attack(
        "fork-bomb",
        f"forks until refused (stops by itself at {MOST_PROCESSES})",
        f"""
        import os, signal
        made = []
        while len(made) < {MOST_PROCESSES}:
            try:
                pid = os.fork()
            except OSError:
                break
            if pid == 0:
                signal.alarm(20)
                signal.pause()
                os._exit(0)
            made.append(pid)
        for pid in made:
            os.kill(pid, signal.SIGKILL)
        return len(made) >= {MOST_PROCESSES}
        """,
        ("process_limit",),
    ),
    Attack(
        "endless-loop",
        "loops for ever, with grandchildren in sessions of their own that ignore signals",
        STUBBORN + "while True:\n    pass",
        ("pid_namespace",),
        {"docker": ()},
        "the engine ends a container with all that is in it",
        plain=True,
        seconds=3.0,
        stays=True,
        slow=True,
    ),
    Attack("background", "answers, and leaves such grandchildren", STUBBORN, ("pid_namespace",), stays=True),
    Attack(
        "signal-others",
        "may signal a process of its own user outside",
        "import os\ntry:\n    os.kill(scene['pid'], 0)\n"
        "    return scene['mark'] in open(f'/proc/{scene[\"pid\"]}/cmdline').read()\nexcept OSError:\n    return False",
        ("pid_namespace+landlock",),
        {"docker": ()},
        NEVER_SHARED,
        plain=True,
    ),
    Attack(
        "signal-neighbour",
        "may signal what another candidate runs at the same time",
        SEEN
        + """
for pid in neighbours():
    try:
        os.kill(pid, 0)
        return pid
    except OSError:
        pass
""",
        ("pid_namespace+drop_privileges+landlock",),
        beside=NEIGHBOUR,
        slow=True,
    ),
    Attack(
        "read-neighbour",
        "reads the memory of what another candidate runs at the same time",
        SEEN
        + """
for pid in neighbours():
    try:
        with open(f"/proc/{pid}/mem", "rb", 0) as memory, open(f"/proc/{pid}/maps") as maps:
            return os.pread(memory.fileno(), 1, int(maps.readline().partition("-")[0], 16))
    except OSError:
        pass
""",
        ("pid_namespace+drop_privileges+landlock",),
        {"bubblewrap": ()},
        "a user namespace of its own, without which bubblewrap makes none",
        beside=NEIGHBOUR,
    ),
    Attack(
        "signal-supervisor",
        "may signal a process of another user within its sight",
        """
        import os
        for name in os.listdir("/proc"):
            if not name.isdigit() or int(name) == os.getpid():
                continue
            if os.getuid() == 0 or os.stat(f"/proc/{name}").st_uid != os.getuid():
                try:
                    os.kill(int(name), 0)
                    return name
                except OSError:
                    pass
        """,
        ("drop_privileges+landlock",),
    ),
    Attack(
        "others-environment",
        "reads the environment of a process of its own user outside",
        """
        try:
            return scene["secret"].encode() in open(f"/proc/{scene['pid']}/environ", "rb").read()
        except OSError:
            return False
        """,
        why="an own PID namespace; and a user namespace, or a container, of its own",
        plain=True,
    ),
    Attack(
        "ptrace",
        "may be traced, so may trace what it starts",
        """
        import ctypes, os
        pid = os.fork()
        if pid == 0:
            os._exit(ctypes.CDLL(None).ptrace(0, 0, 0, 0) == 0)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        """,
        ("seccomp",),
    ),
    Attack(
        "process-vm",
        "reads memory of another process by process_vm_readv",
        """
        import ctypes, os, signal
        class Piece(ctypes.Structure):
            _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
        secret, seen = ctypes.create_string_buffer(b"canary"), ctypes.create_string_buffer(6)
        pid = os.fork()
        if pid == 0:
            signal.pause()
            os._exit(0)
        there = Piece(ctypes.addressof(secret), 6)
        here = Piece(ctypes.addressof(seen), 6)
        ctypes.CDLL(None).process_vm_readv(pid, ctypes.byref(here), 1, ctypes.byref(there), 1, 0)
        os.kill(pid, signal.SIGKILL)
        return seen.raw == b"canary"
        """,
        ("seccomp",),
    ),
)
