"""Who vouches for a bundle: signatures over its manifest, made and checked by ssh-keygen."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from whet.core.errors import UsageError
from whet.evaluators.evidence.bundle import Bundle, Contradiction

NAMESPACE = "whet-evidence"
TOOL = "ssh-keygen"
SECONDS = 60.0
"""Seconds that ssh-keygen may take for one check of a signature; signing, which may ask for a passphrase, has no limit.
A smaller limit fails on a busy machine; a larger one only delays the failure of a tool that hangs."""
KEY = re.compile(r"with (\S+) key (SHA256:\S+)")


@dataclass(frozen=True, slots=True)
class Authorship:
    """What a bundle's signature tells.

    Attributes:
        signed: whether there is a signature.
        intact: whether it is of this bundle's manifest; None where ssh-keygen is missing here, or nothing is signed.
        key: the key that made it: its kind and its fingerprint; empty where that is not known.
        principals: those of the signers' file whose key it is.
        note: all that in a few words.
    """

    signed: bool
    intact: bool | None
    key: str
    principals: tuple[str, ...]
    note: str


def sign(manifest: bytes, key: Path) -> bytes:
    """Returns a signature of a manifest.

    Args:
        manifest: of a bundle.
        key: a private key, or a public one whose private half an agent holds.

    Raises:
        UsageError: ssh-keygen is missing, or cannot use the key without asking somebody.
    """
    tool = _tool("--sign")
    if not key.is_file():
        raise UsageError(f"--sign {key}: no such file")
    terminal = sys.stdin.isatty()
    # Without a terminal of ours it must not find another one to ask at.
    environment = os.environ if terminal else {**os.environ, "SSH_ASKPASS_REQUIRE": "never"}
    done = subprocess.run(
        [tool, "-Y", "sign", "-n", NAMESPACE, "-f", str(key)],
        input=manifest,
        capture_output=True,
        check=False,
        env=environment,
        start_new_session=not terminal,
    )
    if done.returncode == 0 and done.stdout.startswith(b"-----BEGIN SSH SIGNATURE-----"):
        return done.stdout
    said = done.stderr.decode("utf-8", "replace").strip()
    if "passphrase" in said and not terminal:
        raise UsageError(
            f"--sign {key} needs its passphrase, and there is no terminal: load it into ssh-agent, and sign "
            f"with {key.name}.pub"
        )
    raise UsageError(f"--sign {key} cannot sign: {said.splitlines()[-1] if said else 'ssh-keygen said nothing'}")


def authorship(bundle: Bundle, signers: Path | None) -> Authorship:
    """Returns who signed a bundle, as far as that can be told.

    Args:
        bundle: to look at.
        signers: a file of allowed signers, in the form of ssh-keygen(1).

    Raises:
        UsageError: the signers' file cannot be used, or is given and ssh-keygen is missing.
        Contradiction: the signature is of something else.
    """
    if signers is not None and not signers.is_file():
        raise UsageError(f"--signers {signers}: no such file")
    if bundle.signature is None:
        return Authorship(False, None, "", (), "not signed")
    if signers is None and shutil.which(TOOL) is None:
        return Authorship(True, None, "", (), f"signed; not checked, as {TOOL} is missing here")
    tool = _tool("--signers")
    with _file(bundle.signature) as signature:
        said = _ask([tool, "-Y", "check-novalidate", "-n", NAMESPACE, "-s", signature], bundle.manifest)
        if said is None:
            raise Contradiction("the bundle contradicts itself: its signature is not of its manifest")
        found = KEY.search(said)
        key = f"{found[1]} {found[2]}" if found else ""
        if signers is None:
            return Authorship(True, True, key, (), f"signed with the key {key}, whoever has it")
        named = _ask([tool, "-Y", "find-principals", "-f", str(signers), "-s", signature], b"") or ""
        principals = tuple(
            one
            for one in dict.fromkeys(name for line in named.splitlines() for name in line.split(","))
            if one and _ask(
                [tool, "-Y", "verify", "-f", str(signers), "-I", one, "-n", NAMESPACE, "-s", signature], bundle.manifest
            ) is not None
        )  # fmt: skip
    note = f"signed by {', '.join(principals)}" if principals else f"signed, by nobody in {signers.name}"
    return Authorship(True, True, key, principals, note)


def _tool(option: str) -> str:
    path = shutil.which(TOOL)
    if path is None:
        raise UsageError(f"{option} needs {TOOL}; apt-get install openssh-client")
    return path


def _ask(command: Sequence[str], data: bytes) -> str | None:
    """Returns what a command that succeeds in time prints, else None."""
    try:
        done = subprocess.run(command, input=data, capture_output=True, check=False, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return None
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else None


@contextmanager
def _file(data: bytes) -> Iterator[str]:
    with tempfile.NamedTemporaryFile(prefix="whet-signature-") as file:
        file.write(data)
        file.flush()
        yield file.name
