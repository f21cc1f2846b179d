"""``whet audit``: how strong the oracle is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import typer

from whet.cli import options as opt
from whet.core.text import one_line

if TYPE_CHECKING:
    from whet.core.audit import Audit

MEND = {
    "echo": "draw inputs that the target changes",
    "identity": "draw inputs that the target changes",
    "blind": "give a problem whose output follows from its inputs",
    "empty": "draw inputs whose answer is not empty",
}
"""How a workload is mended that a null candidate passes; any other: `MEND_OTHERS`."""
MEND_OTHERS = "draw inputs whose answers differ"


@opt.takes("workload", "tests", "record", "python", "sandbox", "unsafe", "workers", "seed", "root")
def audit(
    ctx: typer.Context,
    target: opt.Target,
    mutants: opt.Mutants = 60,
    as_json: opt.Json = False,
    debug: opt.Debug = False,
    **given: Any,
) -> int:
    """Try the oracle on candidates that it must reject: some that do no work, and mutants of the target."""
    from whet.cli.progress import watching
    from whet.cli.render import print_diff
    from whet.core.options import Budget
    from whet.evaluators.audit import audit as work

    with watching(ctx.obj, Budget(), silent=as_json) as listener:
        found = work(**opt.given(ctx), listener=listener)
    if as_json:
        print(json.dumps(found.to_json(), indent=2))
        return int(found.exit_code)
    print("\n".join(report_lines(found)))
    for number, mutant in enumerate(found.survivors, 1):
        print(f"\nsurvivor {number}: {mutant.id}, line {mutant.line}, {mutant.operator}", end="")
        print_diff(mutant.diff)
    return int(found.exit_code)


def report_lines(found: Audit) -> Iterator[str]:
    """Yields all that an audit says, but for the survivors' diffs."""
    yield ""
    yield f"audit of {one_line(found.task.target)}"
    yield ""
    yield "null candidate  outcome         agrees on"
    for null in found.nulls:
        share = f"{null.agreed} of {null.inputs} inputs" if null.inputs else "the baseline fails on no input"
        yield f"  {null.name:<14}{null.status.replace('_', ' '):<16}{share}"
    if found.strengthened:
        yield f"  inputs: {one_line(found.strengthened)}"
    if found.accepted:
        mends = dict.fromkeys(MEND.get(name, MEND_OTHERS) for name in found.accepted)
        yield f"the oracle is empty: {', '.join(found.accepted)} accepted; {', and '.join(mends)}"
    for said in found.suspicions:
        yield f"suspicious      {one_line(said)}"
    yield ""
    stillborn = len(found.mutants) - len(found.ran)
    yield f"mutants         {len(found.mutants)} tried of {found.made}; {stillborn} do not build"
    if not found.made:
        yield "                (whet knows no fault to make in this text)"
    if found.ran:
        yield f"killed          {found.killed.hits} of {found.killed.trials}: {found.killed} at 95 %"
        for rung, number in sorted(found.by_rung.items()):
            yield f"  by {rung:<13}{number}"
        yield f"usual protocol  {found.usual.hits} of {found.usual.trials}: {found.usual} at 95 %"
        yield "                (five random inputs of the largest size, a flat tolerance of 1e-2)"
    yield f"survived        {len(found.survivors)}"
    yield f"time            {found.seconds:.1f} s; --seed {found.seed} draws the same again"
