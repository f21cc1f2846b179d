"""Which sandboxes this machine offers, and the choice among them."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable

from whet.core.errors import SandboxError, UsageError, nearest
from whet.sandbox.bubblewrap import Bubblewrap
from whet.sandbox.interpreter import find_interpreter
from whet.sandbox.protocol import BackendReport, Incident, Job, Sandbox
from whet.sandbox.unprotected import Unprotected

BACKENDS: dict[str, Callable[[], Sandbox]] = {"bubblewrap": Bubblewrap}
"""In the order of preference; one line adds a backend."""

TRIAL_SECONDS = 10.0


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
    if name == "auto":
        reports = [trial(backend) for backend in BACKENDS]
        for report in reports:
            if report.available:
                return BACKENDS[report.name]()
        reasons = "; ".join(f"{report.name}: {report.reason}" for report in reports)
        raise UsageError(f"no sandbox works here ({reasons}); see whet doctor")
    known = ("auto", *BACKENDS, "none")
    if name not in BACKENDS:
        raise UsageError(f"--sandbox takes {', '.join(known)}, not '{name}'{nearest(name, known)}")
    report = trial(name)
    if not report.available:
        raise UsageError(f"--sandbox {name} does not work here: {report.reason}")
    return BACKENDS[name]()


def trial(name: str) -> BackendReport:
    """Starts one process in a backend and looks at it from inside."""
    try:
        sandbox = BACKENDS[name]()
    except UsageError as error:
        return BackendReport(name, False, reason=str(error))
    try:
        session = sandbox.open(Job("programs", find_interpreter()))
        try:
            session.ask(
                "prepare",
                ["/usr/bin/cat", "/proc/self/status", "/proc/1/environ"],
                b"",
                seconds=TRIAL_SECONDS,
            )
            session.ask("go", seconds=TRIAL_SECONDS)
            (_, seen, _), _ = session.ask("output", seconds=TRIAL_SECONDS)
        finally:
            session.close()
    except (SandboxError, Incident) as error:
        return BackendReport(name, False, version(name), str(error))
    finally:
        sandbox.close()
    status = dict(line.split(b":\t", 1) for line in seen.splitlines() if b":\t" in line)
    protections = {
        "no_capabilities": int(status.get(b"CapEff", b"f"), 16) == 0,
        "no_new_privileges": status.get(b"NoNewPrivs") == b"1",
        "seccomp": status.get(b"Seccomp") == b"2",
        "unprivileged_user": b"0" not in status.get(b"Uid", b"0").split(),
        "empty_environment": _names(seen.rsplit(b"\n", 1)[-1]) <= {b"PATH", b"PWD"},
    }
    lacking = [protection for protection, on in protections.items() if not on and protection != "seccomp"]
    reason = f"a trial run lacked {', '.join(lacking)}" if lacking else ""
    return BackendReport(name, not lacking, version(name), reason, protections)


def _names(environ: bytes) -> set[bytes]:
    return {entry.partition(b"=")[0] for entry in environ.split(b"\0") if entry}


def version(name: str) -> str:
    """Returns the version of a backend's tool, or an empty string."""
    tool = {"bubblewrap": "bwrap"}[name]
    if shutil.which(tool) is None:
        return ""
    words = subprocess.run([tool, "--version"], capture_output=True, text=True, check=False).stdout.split()
    return words[-1] if words else ""


def probe() -> list[BackendReport]:
    """Tries every backend."""
    return [trial(name) for name in BACKENDS]
