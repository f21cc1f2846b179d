"""What a process imports for its inputs is left out of later collections of garbage, as what its target imports is."""

from __future__ import annotations

from contextlib import closing

import numpy as np
import pytest

from whet.evaluators.outcomes import decode_call
from whet.sandbox.backends import open_sandbox
from whet.sandbox.inside.codec import encode
from whet.sandbox.interpreter import find_interpreter
from whet.sandbox.protocol import Job

SOURCE = """
import gc

def followed(row):
    gc.collect()
    return len(gc.get_objects())
"""


@pytest.mark.parametrize("imports", ["", "import numpy\n"], ids=["for an input", "by the target"])
def test_modules_are_not_followed_in_later_passes(imports: str) -> None:
    sandbox = open_sandbox("bubblewrap", False)
    tree = sandbox.stage(f"settled-{len(imports)}", {"a.py": f"{imports}{SOURCE}".encode()})
    payload = encode((np.ones(3),))
    with closing(sandbox), closing(sandbox.open(Job("calls", find_interpreter(), tree))) as session:
        assert session.ask("load", "python", "a.py", "followed", seconds=60.0)[0] == ("ok",)
        counts = []
        for _ in range(2):
            (_, outcome, _), _ = session.ask("call", payload, seconds=60.0)
            counts.append(decode_call(outcome).value)
    assert counts[1] < 2000, counts
