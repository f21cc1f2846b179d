"""Which sandboxes this machine offers, and the choice among them."""

from __future__ import annotations

from collections.abc import Callable

from whet.core.errors import SandboxError, UsageError, nearest
from whet.sandbox.bubblewrap import Bubblewrap
from whet.sandbox.docker import Docker
from whet.sandbox.interpreter import find_interpreter
from whet.sandbox.protocol import BackendReport, Incident, Job, Sandbox
from whet.sandbox.unprotected import Unprotected

BACKENDS: dict[str, Callable[[], Sandbox]] = {"docker": Docker, "bubblewrap": Bubblewrap}
"""In the order of preference; one line adds a backend."""

TRIAL_SECONDS = 10.0
"""Seconds in which each of the three messages to a trial process must be answered. Less fails a working sandbox on a
busy machine; more only delays the report of one that hangs."""
LOOK = r"""
cat /proc/self/status
if true 2>/dev/null >/proc/self/comm; then printf 'Landlock:\t0\n'; else printf 'Landlock:\t1\n'; fi
cat /proc/1/environ
"""
"""Any process may write its own name, but where rules of Landlock forbid it."""
OPTIONAL = ("seccomp", "landlock", "control_group")
"""What a machine may lack, and be fit for use."""


def open_sandbox(name: str, unsafe: bool) -> Sandbox:
    """Returns the sandbox that the user asked for.

    Args:
        name: ``auto``, ``none`` or one of `BACKENDS`.
        unsafe: allows ``none``.

    Raises:
        UsageError: unknown, not usable on this machine, or ``none`` without ``unsafe``.
    """
    if name == "none":
        if not unsafe:
            raise UsageError("--sandbox none runs untrusted code unprotected; add --unsafe if you mean it")
        return Unprotected()
    known = ("auto", *BACKENDS, "none")
    if name not in known:
        raise UsageError(f"--sandbox takes {', '.join(known)}, not '{name}'{nearest(name, known)}")
    reasons = []
    for backend in BACKENDS if name == "auto" else (name,):
        sandbox, report = _tried(backend)
        if sandbox is not None:
            return sandbox
        reasons.append(f"{backend}: {report.reason}")
    if name == "auto":
        raise UsageError(f"no sandbox works here ({'; '.join(reasons)}); see whet doctor")
    raise UsageError(f"--sandbox {name} does not work here: {report.reason}")


def probe() -> list[BackendReport]:
    """Starts one process in every backend and looks at it from inside."""
    reports = []
    for name in BACKENDS:
        sandbox, report = _tried(name)
        if sandbox is not None:
            sandbox.close()
        reports.append(report)
    return reports


def _tried(name: str) -> tuple[Sandbox | None, BackendReport]:
    """Returns a backend that came through its trial, warm, or None; and what the trial found."""
    try:
        sandbox = BACKENDS[name]()
    except UsageError as error:
        return None, BackendReport(name, False, reason=str(error))
    version = str(sandbox.facts["version"])
    try:
        report = _looked_at(name, version, _status(sandbox), bool(sandbox.facts["control_group"]))
    except (SandboxError, Incident) as error:
        report = BackendReport(name, False, version, str(error))
    if not report.available:
        sandbox.close()
        return None, report
    return sandbox, report


def _status(sandbox: Sandbox) -> bytes:
    """Returns what a process in a sandbox sees of itself, then the environment of the process that is its init."""
    session = sandbox.open(Job("programs", find_interpreter()))
    try:
        argv = ["/bin/sh", "-c", LOOK]
        session.ask("prepare", argv, b"", seconds=TRIAL_SECONDS)
        session.ask("go", seconds=TRIAL_SECONDS)
        (_, seen, _), _ = session.ask("output", seconds=TRIAL_SECONDS)
    finally:
        session.close()
    assert isinstance(seen, bytes)
    return seen


def _looked_at(name: str, version: str, seen: bytes, control_group: bool) -> BackendReport:
    status = dict(line.split(b":\t", 1) for line in seen.splitlines() if b":\t" in line)
    protections = {
        "no_capabilities": int(status.get(b"CapEff", b"f"), 16) == 0,
        "no_new_privileges": status.get(b"NoNewPrivs") == b"1",
        "seccomp": status.get(b"Seccomp") == b"2",
        "landlock": status.get(b"Landlock") == b"1",
        "control_group": control_group,
        "unprivileged_user": b"0" not in status.get(b"Uid", b"0").split(),
        "empty_environment": _names(seen.rsplit(b"\n", 1)[-1]) <= {b"PATH", b"PWD"},
    }
    lacking = [protection for protection, on in protections.items() if not on and protection not in OPTIONAL]
    reason = f"a trial run lacked {', '.join(lacking)}" if lacking else ""
    return BackendReport(name, not lacking, version, reason, protections)


def _names(environ: bytes) -> set[bytes]:
    return {entry.partition(b"=")[0] for entry in environ.split(b"\0") if entry}
