"""Attacks on the way by which results come back."""

from __future__ import annotations

from whet.sandbox.inside.decode import Node
from whet.testing.attacks.attack import Attack, reported

WRITES = """
import os, stat, struct, sys, time
sys.path.insert(0, "/whet")
from inside.codec import encode
def say(data, times=1):
    for name in os.listdir("/proc/self/fd"):
        try:
            if int(name) > 2 and stat.S_ISFIFO(os.fstat(int(name)).st_mode):
                os.write(int(name), (struct.pack("<Q", len(data)) + data) * times)
        except OSError:
            pass
"""
UNTIL_ENDED = "import signal\nwhile True:\n    signal.pause()"
READ = "an answer is checked for form, and the first fault in it ends the process"

ATTACKS = (
    Attack(
        "answer-beforehand",
        "writes its next answer before it is asked",
        # In one piece, so that the second stands there when the first is read.
        WRITES + "say(encode(('outcome', encode(('value', None, None, 'forged', '')), 1)), times=2)",
        ("turns",),
        again=True,
        escaped=lambda value: value == "forged",
    ),
    Attack(
        "junk",
        "writes bytes that are no message",
        WRITES + "say(b'junk')\n" + UNTIL_ENDED,
        why=READ,
        tried=reported("protocol"),
        slow=True,
    ),
    Attack(
        "huge-length",
        "announces an answer of 2**60 bytes",
        WRITES.replace("len(data))", "1 << 60)") + "say(b'')\n" + UNTIL_ENDED,
        why="no length is believed beyond the limit of an answer",
        tried=reported("output_flood"),
        slow=True,
    ),
    Attack(
        "init-descriptors",
        "finds whet's pipes in the init of its sandbox",
        """
        import os
        def pipes(process):
            found = set()
            for number in range(100):
                try:
                    found.add(os.readlink(f"/proc/{process}/fd/{number}"))
                except OSError:
                    pass
            return {link for link in found if link.startswith("pipe:")}
        mine = pipes("self")
        return len(mine), len(mine & pipes(1))
        """,
        why="none but the program inside holds them",
        tried=lambda value: value == (2, 0),
        escaped=lambda value: isinstance(value, tuple) and value[1] > 0,
    ),
    Attack(
        "object",
        "returns what would run code where it is read",
        """
        class Trap:
            def __reduce__(self):
                return (print, ("escaped",))
        return Trap()
        """,
        why="it stays plain data out here, for no class of an answer is ever looked up",
        tried=lambda value: isinstance(value, Node) and value.name.endswith("Trap"),
        escaped=lambda value: type(value).__name__ == "Trap",
    ),
)
