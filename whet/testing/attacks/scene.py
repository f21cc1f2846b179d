"""What attacks are after: canaries of our own on the host, so that nothing real is at stake."""

from __future__ import annotations

import ctypes
import os
import random
import secrets
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from whet.sandbox.staging import PATH

STAY_SECONDS = 60
"""Seconds that a marked process sleeps. It has to outlast its attack, or one that stays would end unseen; a larger
value only leaves a process that escaped, and was not found, on the machine for longer."""
GONE_SECONDS = 2.0
"""Seconds after an attack until its marked processes must be gone, for the end of a process takes a moment. A smaller
value reports escapes on a busy machine; a larger one accepts a sandbox that cleans up late."""
IPC_CREAT, IPC_RMID = 0o1000, 0


@contextmanager
def canaries(user: int) -> Iterator[dict[str, Any]]:
    """Yields the scene: where each canary is, and the secret that it holds.

    Args:
        user: the one whom the first candidate of the sandbox gets.
    """
    secret = secrets.token_hex(16)
    with ExitStack() as stack:
        file = stack.enter_context(tempfile.NamedTemporaryFile("w", dir="/var/tmp", prefix="whet-canary-"))
        file.write(secret)
        file.flush()
        Path(file.name).chmod(0o644)
        os.set_inheritable(file.fileno(), True)
        os.environ["WHET_CANARY"] = secret
        stack.callback(os.environ.pop, "WHET_CANARY")
        scene: dict[str, Any] = {"secret": secret, "file": file.name, "uid": user}
        scene["mark"], scene["neighbour"] = (str(STAY_SECONDS + random.SystemRandom().random()) for _ in "ab")
        scene["pid"] = stack.enter_context(_process(user, secret, scene["mark"])).pid
        scene |= {"abstract": f"whet-{secret}", "meeting": f"whet-meeting-{secret}", "path": f"{file.name}.socket"}
        servers = (
            ("inet", socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)),
            ("inet6", socket.AF_INET6, socket.SOCK_STREAM, ("::1", 0)),
            ("udp", socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0)),
            ("", socket.AF_UNIX, socket.SOCK_STREAM, "\0" + scene["abstract"]),
            ("", socket.AF_UNIX, socket.SOCK_STREAM, scene["path"]),
        )
        for name, family, kind, address in servers:
            port = stack.enter_context(_door(family, kind, address, secret))
            scene |= {name: port} if name else {}
        Path(scene["path"]).chmod(0o777)
        stack.callback(Path(scene["path"]).unlink)
        scene["key"] = stack.enter_context(_memory())
        scene["left"] = stack.enter_context(_swept())
        scene["interfaces"] = sorted(name for _, name in socket.if_nameindex())
        yield scene


def stays(mark: str, but: int) -> bool:
    """Whether a process that bears the mark, other than one, is still there; ends those that are."""
    deadline = time.monotonic() + GONE_SECONDS
    while pids := bearing(mark) - {but}:
        if time.monotonic() > deadline:
            for pid in pids:
                os.kill(pid, 9)
            return True
        time.sleep(0.02)
    return False


def bearing(mark: str) -> set[int]:
    """Returns the processes of this machine that have the mark among their arguments."""
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if mark.encode() in (entry / "cmdline").read_bytes().split(b"\0"):
                    found.add(int(entry.name))
            except OSError:
                continue
    return found


@contextmanager
def _process(user: int, secret: str, mark: str) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        ["/bin/sleep", mark],
        env={"PATH": PATH, "SECRET": secret},
        user=user if os.geteuid() == 0 else None,
        cwd="/",
        start_new_session=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@contextmanager
def _door(family: socket.AddressFamily, kind: socket.SocketKind, address: Any, secret: str) -> Iterator[int]:
    """Yields the port of a server that tells the secret to whoever comes; 0 where it has none."""
    with socket.socket(family, kind) as listener:
        try:
            listener.bind(address)
        except OSError:  # a machine without IPv6
            yield 0
            return
        if kind == socket.SOCK_STREAM:
            listener.listen()
        tell = _tell if kind == socket.SOCK_STREAM else _answer
        threading.Thread(target=tell, args=(listener, secret), daemon=True).start()
        yield 0 if family == socket.AF_UNIX else listener.getsockname()[1]
        with suppress(OSError):  # a socket of datagrams says that it is not connected, and wakes up all the same
            listener.shutdown(socket.SHUT_RDWR)


def _answer(listener: socket.socket, secret: str) -> None:
    while True:
        try:
            _, sender = listener.recvfrom(100)
            if not sender:
                return
            listener.sendto(secret.encode(), sender)
        except OSError:
            return


def _tell(listener: socket.socket, secret: str) -> None:
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        with connection:
            connection.recv(100)  # a close with something unread would take the answer back
            connection.sendall(secret.encode())


@contextmanager
def _memory() -> Iterator[int]:
    """Yields the key of a System V segment that anybody may open."""
    libc = ctypes.CDLL(None, use_errno=True)
    key = random.SystemRandom().randrange(1 << 16, 1 << 30)
    number = libc.shmget(key, 4096, IPC_CREAT | 0o666)
    if number < 0:
        raise OSError(ctypes.get_errno(), "shmget")
    try:
        yield key
    finally:
        libc.shmctl(number, IPC_RMID, None)


@contextmanager
def _swept() -> Iterator[int]:
    """Yields a key, and removes what bears it afterwards: System V memory, semaphores, queues, and a message queue."""
    libc = ctypes.CDLL(None)
    key = random.SystemRandom().randrange(1 << 16, 1 << 30)
    try:
        yield key
    finally:
        libc.shmctl(libc.shmget(key, 0, 0), IPC_RMID, None)
        libc.semctl(libc.semget(key, 0, 0), 0, IPC_RMID)
        libc.msgctl(libc.msgget(key, 0), IPC_RMID, None)
        libc.mq_unlink(f"/whet-{key}".encode())
