"""The system calls that no candidate needs: denied by a filter that the kernel keeps."""

from __future__ import annotations

import errno
import json
from pathlib import Path

DENIED = """
    ptrace process_vm_readv process_vm_writev kcmp pidfd_getfd mount umount2 move_mount fsopen
    fsconfig fsmount fspick open_tree mount_setattr pivot_root chroot unshare setns bpf
    perf_event_open keyctl add_key request_key io_uring_setup io_uring_enter io_uring_register
    userfaultfd init_module finit_module delete_module kexec_load kexec_file_load reboot swapon
    swapoff acct quotactl name_to_handle_at open_by_handle_at syslog settimeofday clock_settime
    clock_adjtime adjtimex personality lookup_dcookie vhangup
    memfd_create memfd_secret shmget
"""  # The last three make memory that is no process's and no folder's: nothing but a control group would count it.
FAMILIES = (1, 2, 10, 16)  # unix, inet, inet6, netlink: the others reach drivers, or the machine below
HIGHEST_FAMILY = max(FAMILIES)
OTHER_FAMILIES = tuple(number for number in range(HIGHEST_FAMILY) if number not in FAMILIES)
COUNTING = "perf_event_open"
"""What a profiling job may call, and no other."""
CLONE_NEWUSER = 0x10000000
TIOCSTI = 0x5412


def denied(profiling: bool) -> list[str]:
    """Returns the names of the calls that an ordinary or a profiling job may not make."""
    return [name for name in DENIED.split() if not (profiling and name == COUNTING)]


def write_filter(path: Path, profiling: bool = False) -> bool:
    """Writes the compiled filter for ``bwrap --seccomp``.

    Returns:
        False where libseccomp is not installed; then nothing is written.
    """
    try:
        import pyseccomp as seccomp
    except (ImportError, RuntimeError, OSError):  # pyseccomp raises RuntimeError without the C library
        return False
    rules = seccomp.SyscallFilter(defaction=seccomp.ALLOW)
    for name in denied(profiling):
        try:
            rules.add_rule(seccomp.ERRNO(errno.EPERM), name)
        except (ValueError, OSError):  # a call that this architecture or library does not know
            continue
    rules.add_rule(seccomp.ERRNO(errno.EPERM), "clone", seccomp.Arg(0, seccomp.MASKED_EQ, CLONE_NEWUSER, CLONE_NEWUSER))
    rules.add_rule(seccomp.ERRNO(errno.EPERM), "ioctl", seccomp.Arg(1, seccomp.EQ, TIOCSTI))
    rules.add_rule(seccomp.ERRNO(errno.EAFNOSUPPORT), "socket", seccomp.Arg(0, seccomp.GT, HIGHEST_FAMILY))
    for family in OTHER_FAMILIES:
        rules.add_rule(seccomp.ERRNO(errno.EAFNOSUPPORT), "socket", seccomp.Arg(0, seccomp.EQ, family))
    # Its flags lie in memory, where a filter cannot look: libc falls back to clone.
    rules.add_rule(seccomp.ERRNO(errno.ENOSYS), "clone3")
    with path.open("wb") as file:
        rules.export_bpf(file)
    return True


def docker_profile(profiling: bool = False) -> str:
    """Returns the same filter as a profile for ``docker --security-opt seccomp=``."""
    return json.dumps(
        {
            "defaultAction": "SCMP_ACT_ALLOW",
            "syscalls": [
                _rule(denied(profiling), errno.EPERM),
                _rule(["clone"], errno.EPERM, index=0, value=CLONE_NEWUSER, valueTwo=CLONE_NEWUSER, op="MASKED_EQ"),
                _rule(["ioctl"], errno.EPERM, index=1, value=TIOCSTI, op="EQ"),
                _rule(["clone3"], errno.ENOSYS),
                _rule(["socket"], errno.EAFNOSUPPORT, index=0, value=HIGHEST_FAMILY, op="GT"),
                *(_rule(["socket"], errno.EAFNOSUPPORT, index=0, value=n, op="EQ") for n in OTHER_FAMILIES),
            ],
        }
    )


def _rule(names: list[str], number: int, **argument: object) -> dict[str, object]:
    argument = argument and argument | {"op": f"SCMP_CMP_{argument['op']}"}
    return {"names": names, "action": "SCMP_ACT_ERRNO", "errnoRet": number, "args": [argument] if argument else []}
