"""The child process that the engines run in: a job comes as JSON on stdin, a line of JSON goes out for each case.

``python -m whet.evaluators.prove.worker BYTES SECONDS``. Objects that it reads are hostile: it limits its memory and
time first. Then it loads the engines, whether or not there is a job as yet.
The engines' licences (pyvex: BSD-2-Clause and GPL-2.0-only) are a reason more for a process of its own.
"""

from __future__ import annotations

import base64
import json
import logging
import resource
import sys
import time
from dataclasses import asdict
from typing import Any

from whet.core.signature import Argument, Role, Signature
from whet.evaluators.prove.cases import Case
from whet.evaluators.prove.proof import Code, Overlap

LOADING_SECONDS = 15
"""For the engines to be loaded, on a busy machine too; their own time begins after that."""


def main() -> None:
    """Reads a job and answers it."""
    memory, seconds = map(int, sys.argv[1:])
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds + LOADING_SECONDS,) * 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    logging.disable(logging.CRITICAL)
    sys.setrecursionlimit(10_000)
    _answer(memory)


def _answer(memory: int) -> None:
    try:
        from whet.evaluators.prove.equivalence import CaseComparison
        from whet.evaluators.prove.image import Image, OutOfTime, Undecided
        from whet.evaluators.prove.solver import Solver
    except ImportError as error:
        _say(missing=str(error))
        return
    job = json.load(sys.stdin)
    deadline = time.monotonic() + job["seconds"]
    try:
        signature = _signature(job["signature"])
        images = tuple(Image(_code(job[side])) for side in ("baseline", "candidate"))
        _say(instructions=len(images[1].instructions))
        for number, given in enumerate(job["cases"]):
            overlap = Overlap(**given["overlap"]) if given["overlap"] else None
            case = Case(given["sizes"], overlap, given["further"])
            found = CaseComparison(
                (images[0], images[1]), signature, case, Solver(deadline, job["query_seconds"])
            ).found()
            _say(case=number, **asdict(found))
            if found.wrong is not None:
                return
    except Undecided as why:
        _say(undecided=str(why), late=isinstance(why, OutOfTime))
    except MemoryError:
        _say(undecided=f"the engines need more than {memory >> 20} MiB of memory")
    except Exception as error:  # a process border: whatever an engine makes of a hostile object is no answer
        _say(undecided=f"the engine failed: {type(error).__name__}: {error}"[:300])


def _signature(given: dict[str, Any]) -> Signature:
    arguments = tuple(
        Argument(**{**one, "role": Role(one["role"]), "may_alias": tuple(one["may_alias"])})
        for one in given["arguments"]
    )
    return Signature(given["prototype"], given["returns"], arguments, tuple(given["externs"]))


def _code(given: dict[str, str]) -> Code:
    return Code(base64.b64decode(given["object"]), given["symbol"], given["isa"])


def _say(**what: Any) -> None:
    print(json.dumps(what), flush=True)


if __name__ == "__main__":
    main()
