"""Attacks that nothing but the second layer holds: a process on itself, and a program on what started it."""

from __future__ import annotations

from whet.testing.attacks.attack import Attack

OWN_FILE = """
import os
try:
    os.close(os.open("/proc/self/{name}", os.O_WRONLY))
    return True
except OSError:
    return False
"""

ATTACKS = (
    Attack(
        "reset-peak",
        "opens what makes the kernel forget the peak of its memory",
        OWN_FILE.format(name="clear_refs"),
        ("landlock",),
    ),
    Attack(
        "last-to-go",
        "opens what says who goes first where memory runs out",
        OWN_FILE.format(name="oom_score_adj"),
        ("landlock",),
    ),
    Attack(
        "signal-launcher",
        "a program may signal the process that started and times it",
        "kill -0 $PPID 2>/dev/null && echo through",
        ("landlock",),
        shell=True,
    ),
    Attack(
        "tcp-loopback",
        "binds a TCP port",
        """
        import socket
        with socket.socket() as listener:
            try:
                listener.bind(("127.0.0.1", 0))
                return True
            except OSError:
                return False
        """,
        ("landlock",),
    ),
)
