"""Whether a candidate is equivalent to the baseline: asks the engines, and believes no counterexample unseen."""

from __future__ import annotations

import base64
import time
from contextlib import closing
from dataclasses import asdict, replace

from whet.core.signature import Signature
from whet.core.verdict import Reason
from whet.evaluators.finding import Skipped
from whet.evaluators.prove.cases import cases
from whet.evaluators.prove.engines import Engines, available
from whet.evaluators.prove.judging import judged
from whet.evaluators.prove.proof import Code, Proof, ProofAnswer, Replay

MISSING = "proofs need angr and z3: pip install 'whet[prove]'"
QUERY_SECONDS = 10.0
"""Wall seconds of one question to the solver. One that takes longer ends the proof at the cases before it. More answer
harder questions; with fewer, a hopeless one ends sooner."""
MOST = 8
"""How far beyond the smallest size a proof goes."""


def prove(
    baseline: Code,
    candidate: Code,
    signature: Signature,
    replay: Replay | None = None,
    engines: Engines | None = None,
    most: int = MOST,
    query_seconds: float = QUERY_SECONDS,
) -> Proof | Skipped:
    """Returns whether two functions are equivalent under a contract.

    Args:
        baseline: the function that is right.
        candidate: the one that is asked about; its machine may be another.
        signature: the contract of both.
        replay: runs an input on both; without it no counterexample is believed.
        engines: that were started before; None starts some. They are ended here.
        most: sizes are looked at up to this far beyond the smallest.
        query_seconds: for each question to the solver.
    """
    if not available():
        return Skipped(Reason.TOOL_MISSING, MISSING)
    began = time.monotonic()
    wanted = cases(signature, most)
    if not wanted.all:
        return Proof(ProofAnswer.INCONCLUSIVE, reason="the contract allows no sizes")
    engines = engines or Engines()
    job = {
        "baseline": _code(baseline), "candidate": _code(candidate), "signature": asdict(signature),
        "cases": [asdict(one) for one in wanted.all], "seconds": engines.seconds,
        "query_seconds": query_seconds,
    }  # fmt: skip
    with closing(engines):
        said = tuple(engines.answers(job))
    if missing := next((one["missing"] for one in said if "missing" in one), None):
        return Skipped(Reason.TOOL_MISSING, f"{MISSING} ({missing})")
    return replace(judged(said, wanted, signature, replay), seconds=time.monotonic() - began)


def _code(code: Code) -> dict[str, str]:
    return {"object": base64.b64encode(code.object).decode(), "symbol": code.symbol, "isa": code.isa}
