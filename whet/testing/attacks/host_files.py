"""Attacks on the host's files, and on what the host's environment says."""

from __future__ import annotations

from collections.abc import Mapping

from whet.testing.attacks.attack import Attack

OPENED = """
import os
for path in {paths}:
    try:
        os.close(os.open(path, {flags}))
        return path
    except OSError:
        pass
"""


def opens(
    name: str,
    what: str,
    paths: tuple[str, ...],
    flags: str,
    protects: tuple[str, ...],
    apart: Mapping[str, tuple[str, ...]],
    why: str = "",
) -> Attack:
    """Returns an attack that opens one of some paths, and does nothing with it."""
    return Attack(name, what, OPENED.format(paths=paths, flags=flags), protects, apart, why)


def swaps(name: str, what: str, make: str) -> Attack:
    """Returns an attack by a program that puts something else where its output could be read from."""
    script = f"for name in .stdout .stderr; do rm -f /work/$name; {make} /work/$name; done; echo tried"
    return Attack(
        name,
        f"a program puts {what} where its output is read from",
        script,
        why="whet reads what it had opened before the program began, and that has no name",
        tried=lambda value: value == b"tried\n",
        shell=True,
        escaped=lambda value: value != b"tried\n",
    )


ATTACKS = (
    Attack(
        "read-file",
        "reads a file of the host",
        "try:\n    return open(scene['file']).read()\nexcept OSError:\n    return ''",
        ("hidden_host_files",),
    ),
    swaps("link-for-stdout", "a link to a file of the host", "ln -s {file}"),
    swaps("pipe-for-stdout", "a pipe that nobody writes", "mkfifo"),
    swaps("device-for-stdout", "a device without an end", "ln -s /dev/zero"),
    Attack(
        "hard-link",
        "makes a second name for a file of the host",
        """
        import os
        for place in ("/work/link", scene["file"] + ".link"):
            try:
                os.link(scene["file"], place)
                os.unlink(place)
                return place
            except OSError:
                pass
        """,
        why="it sees none; and the kernel makes no name in one mount for a file in another",
        plain=True,
    ),
    Attack(
        "climb",
        "reads a file of the host through .., /proc/1/root and /proc/1/cwd",
        """
        roots = ("/src" + "/.." * 20, "/proc/1/root", "/proc/1/cwd/../..", "/proc/self/root/..")
        for root in roots:
            try:
                return open(root + scene["file"]).read()
            except OSError:
                pass
        """,
        ("hidden_host_files",),
    ),
    Attack(
        "init-environment",
        "reads /proc/1/environ",
        "try:\n    return scene['secret'].encode() in open('/proc/1/environ', 'rb').read()\n"
        "except OSError:\n    return False",
        ("empty_environment",),
        {"docker": ("empty_environment+drop_privileges",)},
    ),
    Attack(
        "environment",
        "looks for a secret in its own environment",
        "import os\nreturn scene['secret'] in repr(os.environ)",
        ("empty_environment",),
    ),
    Attack(
        "descriptors",
        "reads files that whet left open",
        """
        import os
        for name in os.listdir("/proc/self/fd"):
            try:
                if scene["secret"].encode() in os.pread(int(name), 1000, 0):
                    return name
            except OSError:
                pass
        """,
        ("closed_descriptors",),
        why="a container is no child of whet, and inherits nothing",
    ),
    opens(
        "write-outside",
        "makes a file outside its own folders",
        ("/x", "/usr/x", "/whet/x", "/etc/x", "/run/x", "/sys/x"),
        "os.O_WRONLY | os.O_CREAT",
        ("read_only_root",),
        {"docker": ("read_only_root+drop_privileges",)},
    ),
    opens(
        "write-tree",
        "makes a file beside its own source, or among the devices",
        ("/src/x", "/dev/x"),
        "os.O_WRONLY | os.O_CREAT",
        ("read_only_root+drop_privileges",),
        {"docker": ("drop_privileges",)},
    ),
    opens(
        "sysctl",
        "opens core_pattern and other settings of the kernel for writing",
        (
            "/proc/sys/kernel/core_pattern",
            "/proc/sys/kernel/modprobe",
            "/proc/sys/vm/drop_caches",
            "/proc/sys/fs/suid_dumpable",
            "/proc/sysrq-trigger",
            "/sys/kernel/uevent_helper",
            "/sys/fs/cgroup/cgroup.procs",
            "/sys/fs/cgroup/memory/release_agent",
            "/sys/fs/cgroup/memory/cgroup.procs",
        ),
        "os.O_WRONLY",
        ("drop_privileges",),
        {"docker": ()},
        "the engine mounts the kernel's settings read-only",
    ),
    Attack(
        "devices",
        "finds nodes of the host's devices",
        """
        import os, stat
        for name in ("kmsg", "mem", "port", "kvm", "fuse", "vda", "sda", "net/tun", "loop-control", "vsock"):
            if os.path.exists("/dev/" + name):
                return name
        """,
        ("own_devices",),
    ),
    Attack(
        "make-device",
        "makes a device node of its own",
        """
        import os, stat
        place = f"/tmp/whet-node-{os.getpid()}"
        try:
            os.mknod(place, stat.S_IFCHR | 0o600, os.makedev(1, 3))
            os.unlink(place)
            return True
        except OSError:
            return False
        """,
        ("capabilities+drop_privileges",),
        {"bubblewrap": ()},
        "the kernel makes none in a user namespace",
    ),
)
