"""Whether a candidate is equivalent to the baseline: asks the engines, and believes no counterexample unseen."""

from __future__ import annotations

import base64
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from typing import Any

from whet.core.about import ROOT
from whet.core.signature import Signature
from whet.core.verdict import Reason
from whet.evaluators.finding import Skipped
from whet.evaluators.prove.cases import cases
from whet.evaluators.prove.judging import judged
from whet.evaluators.prove.proof import Code, Proof, ProofAnswer, Replay
from whet.evaluators.prove.worker import LOADING_SECONDS

NEEDED = ("angr", "claripy", "z3", "capstone")
MISSING = "proofs need angr and z3: pip install 'whet[prove]'"
SECONDS = 20.0
"""Wall seconds of the engines for all cases of a candidate. More reach larger sizes, and a candidate that cannot be
decided takes as much longer; with fewer the proof ends at smaller sizes."""
QUERY_SECONDS = 10.0
"""Wall seconds of one question to the solver. One that takes longer ends the proof at the cases before it. More answer
harder questions; with fewer, a hopeless one ends sooner."""
MEMORY = 6 << 30
"""Of the engines' process, in bytes of address space."""
MOST = 8
"""How far beyond the smallest size a proof goes."""


def available() -> bool:
    """Returns whether the engines are installed."""
    return all(importlib.util.find_spec(name) is not None for name in NEEDED)


def prove(
    baseline: Code,
    candidate: Code,
    signature: Signature,
    replay: Replay | None = None,
    seconds: float = SECONDS,
    most: int = MOST,
    query_seconds: float = QUERY_SECONDS,
    memory: int = MEMORY,
) -> Proof | Skipped:
    """Returns whether two functions are equivalent under a contract.

    Args:
        baseline: the function that is right.
        candidate: the one that is asked about; its machine may be another.
        signature: the contract of both.
        replay: runs an input on both; without it no counterexample is believed.
        seconds: wall time for the engines.
        most: sizes are looked at up to this far beyond the smallest.
        query_seconds: for each question to the solver.
        memory: bytes of address space that the engines may take.
    """
    if not available():
        return Skipped(Reason.TOOL_MISSING, MISSING)
    began = time.monotonic()
    wanted = cases(signature, most)
    if not wanted.all:
        return Proof(ProofAnswer.INCONCLUSIVE, reason="the contract allows no sizes")
    job = {
        "baseline": _code(baseline), "candidate": _code(candidate), "signature": asdict(signature),
        "cases": [asdict(one) for one in wanted.all], "seconds": seconds, "query_seconds": query_seconds,
        "memory": memory,
    }  # fmt: skip
    said = tuple(_asked(job, seconds + LOADING_SECONDS))
    if missing := next((one["missing"] for one in said if "missing" in one), None):
        return Skipped(Reason.TOOL_MISSING, f"{MISSING} ({missing})")
    return replace(judged(said, wanted, signature, replay), seconds=time.monotonic() - began)


def _code(code: Code) -> dict[str, str]:
    return {"object": base64.b64encode(code.object).decode(), "symbol": code.symbol, "isa": code.isa}


def _asked(job: Mapping[str, Any], seconds: float) -> Iterator[dict[str, Any]]:
    """Yields what the engines' process says, as far as it comes in time."""
    with tempfile.TemporaryDirectory(prefix="whet-prove-") as home:
        # Nothing of this environment, such as a key, is the engines' business.
        surroundings = {
            "PATH": os.environ.get("PATH", os.defpath), "HOME": home, "TMPDIR": home,
            "PYTHONPATH": ROOT, "PYTHONDONTWRITEBYTECODE": "1",
        }  # fmt: skip
        child = subprocess.Popen(
            [sys.executable, "-m", "whet.evaluators.prove.worker"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=home, env=surroundings,
            start_new_session=True,
        )  # fmt: skip
        try:
            said, _ = child.communicate(json.dumps(job).encode(), timeout=seconds)
        except subprocess.TimeoutExpired:
            child.kill()
            said, _ = child.communicate()
    for line in said.decode(errors="replace").splitlines():
        try:
            yield json.loads(line)
        except ValueError:
            return  # a line that the end of the process cut off
