"""Attacks over the network, a family each."""

from __future__ import annotations

from whet.testing.attacks.attack import Attack

CONNECTS = """
import socket
try:
    with socket.socket(socket.{family}, socket.SOCK_STREAM) as connection:
        connection.settimeout(2)
        connection.connect({address})
        return connection.recv(100).decode() == scene["secret"]
except OSError:
    return False
"""
OPENS = """
import socket
try:
    socket.socket({family}, socket.{kind}, {protocol}).close()
    return True
except OSError:
    return False
"""


def connects(name: str, what: str, family: str, address: str) -> Attack:
    """Returns an attack that connects to a canary's door."""
    return Attack(name, what, CONNECTS.format(family=family, address=address), ("network",))


def opens(name: str, what: str, family: int, kind: str, protocol: int, *protects: str) -> Attack:
    """Returns an attack that makes a socket of a family."""
    return Attack(name, what, OPENS.format(family=family, kind=kind, protocol=protocol), protects)


ATTACKS = (
    connects("inet", "connects to a server on the host", "AF_INET", "('127.0.0.1', scene['inet'])"),
    connects("inet6", "connects to a server on the host", "AF_INET6", "('::1', scene['inet6'])"),
    connects("unix-abstract", "connects to an abstract socket", "AF_UNIX", "'\\0' + scene['abstract']"),
    Attack(
        "netlink",
        "lists the host's interfaces",
        "import socket\nreturn sorted(n for _, n in socket.if_nameindex()) == scene['interfaces'] != ['lo']",
        ("network",),
    ),
    opens("vsock", "makes a socket to the machine below", 40, "SOCK_STREAM", 0, "seccomp"),
    opens("alg", "makes a socket to the kernel's ciphers", 38, "SOCK_SEQPACKET", 0),
    opens("packet", "makes a packet socket", 17, "SOCK_RAW", 0),
    opens("raw", "makes a raw socket", 2, "SOCK_RAW", 1),
    opens("raw6", "makes a raw socket", 10, "SOCK_RAW", 58),
)
