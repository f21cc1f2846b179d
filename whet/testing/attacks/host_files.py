"""Attacks on the host's files, and on what the host's environment says."""

from __future__ import annotations

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


def opens(name: str, what: str, paths: tuple[str, ...], flags: str, *protects: str) -> Attack:
    """Returns an attack that opens one of some paths, and does nothing with it."""
    return Attack(name, what, OPENED.format(paths=paths, flags=flags), protects)


ATTACKS = (
    Attack(
        "read-file",
        "reads a file of the host",
        "try:\n    return open(scene['file']).read()\nexcept OSError:\n    return ''",
        ("hidden_host_files",),
    ),
    Attack(
        "link-for-stdout",
        "a program puts a link to a file of the host where its output is read from",
        "rm -f /work/.stdout; ln -s {file} /work/.stdout",
        ("hidden_host_files",),
        shell=True,
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
    ),
    opens(
        "write-outside",
        "makes a file outside its own folders",
        ("/x", "/usr/x", "/src/x", "/whet/x", "/dev/x", "/etc/x", "/sys/x"),
        "os.O_WRONLY | os.O_CREAT",
        "read_only_root",
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
        ),
        "os.O_WRONLY",
        "drop_privileges",
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
        "makes a device node of its own and opens it",
        """
        import os, stat
        try:
            os.mknod("/tmp/mem", stat.S_IFCHR | 0o600, os.makedev(1, 1))
            os.close(os.open("/tmp/mem", os.O_RDONLY))
            return True
        except OSError:
            return False
        """,
    ),
)
