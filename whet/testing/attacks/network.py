"""Attacks over the network, a family each."""

from __future__ import annotations

from whet.testing.attacks.attack import Attack

CONNECTS = """
import socket
try:
    with socket.socket(socket.{family}, socket.{kind}) as connection:
        connection.settimeout(2)
        connection.connect({address})
        connection.send(b"tell")
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


def connects(
    name: str, what: str, family: str, address: str, kind: str = "SOCK_STREAM", by: str = "network+landlock"
) -> Attack:
    """Returns an attack that connects to a server of the canaries."""
    return Attack(name, what, CONNECTS.format(family=family, kind=kind, address=address), (by,))


def raw(name: str, what: str, family: int, protocol: int, docker: str) -> Attack:
    """Returns an attack that makes a socket for whole packets."""
    source = OPENS.format(family=family, kind="SOCK_RAW", protocol=protocol)
    why = "the kernel lets who owns the network; that is an outer user namespace"
    return Attack(name, what, source, (docker,), {"bubblewrap": ()}, why)


ATTACKS = (
    connects("inet", "connects to a server on the host", "AF_INET", "('127.0.0.1', scene['inet'])"),
    connects("inet6", "connects to a server on the host", "AF_INET6", "('::1', scene['inet6'])"),
    connects(
        "udp",
        "asks a server on the host by a datagram",
        "AF_INET",
        "('127.0.0.1', scene['udp'])",
        "SOCK_DGRAM",
        by="network",
    ),
    connects("unix", "connects to a socket file of the host", "AF_UNIX", "scene['path']", by="hidden_host_files"),
    connects("unix-abstract", "connects to an abstract socket", "AF_UNIX", "'\\0' + scene['abstract']"),
    Attack(
        "netlink",
        "lists the host's interfaces",
        "import socket\nreturn sorted(n for _, n in socket.if_nameindex()) == scene['interfaces'] != ['lo']",
        ("network",),
    ),
    Attack(
        "vsock",
        "makes a socket to the machine below",
        OPENS.format(family=40, kind="SOCK_STREAM", protocol=0),
        ("seccomp",),
    ),
    Attack(
        "families",
        "makes a socket of any other family: ciphers, bluetooth, drivers and the like",
        """
        import socket
        reached = []
        for family in set(range(1, 64)) - {1, 2, 10, 16}:
            for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET, socket.SOCK_RAW):
                try:
                    socket.socket(family, kind).close()
                    reached.append(family)
                except OSError:
                    pass
        return reached
        """,
        ("seccomp",),
    ),
    raw("packet", "makes a packet socket", 17, 0, "seccomp+capabilities+drop_privileges"),
    raw("raw", "makes a raw socket", 2, 1, "capabilities+drop_privileges"),
    raw("raw6", "makes a raw socket", 10, 58, "capabilities+drop_privileges"),
    Attack(
        "passed-descriptor",
        "gets an open file from another candidate that runs at the same time",
        """
        import os, socket
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            try:
                connection.connect("\\0" + scene["meeting"])
            except OSError:
                return False
            _, (descriptor,), _, _ = socket.recv_fds(connection, 1, 1)
            return os.pread(descriptor, 100, 0) == b"theirs"
        """,
        ("network+landlock",),
        beside="""
        import os, socket, threading
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind("\\0" + scene["meeting"])
        listener.listen()
        def pass_on():
            with open("/work/theirs", "w+") as file:
                file.write("theirs")
                file.flush()
                socket.send_fds(listener.accept()[0], [b"x"], [file.fileno()])
        threading.Thread(target=pass_on, daemon=True).start()
        """,
        slow=True,
    ),
)
