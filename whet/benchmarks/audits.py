"""Audits of the tasks from the literature: ``python -m whet.benchmarks.audits [ID...]`` writes them beside the tasks.

An audit of all takes hours, so that `whet.benchmarks.tasks_page` shows the recorded ones. With ``--seed`` `SEED`,
``whet audit`` repeats each.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from whet.benchmarks import tasks
from whet.benchmarks.tasks import reasons
from whet.core.audit import Audit
from whet.evaluators.task_file import FILENAME

TASKS = Path(tasks.__file__).parent
RECORDS = TASKS / "audits.json"
SEED = 7
LITERATURE = {
    "draft-tokens": "acceptance in speculative decoding",
    "grid-worlds": "vectorised simulation of environments",
    "half-spectra": "mixed-precision FFT",
    "latest-quotes": "temporal join",
    "sparse-product": "row-wise SpGEMM",
    "kernels/attention-backward": "attention with recomputation",
    "kernels/einsum-attention": "attention as a cascade of einsums",
    "kernels/fp4-dequantise-native": "FP4 dequantisation",
    "kernels/group-conv": "group convolution",
    "kernels/int2-gemv-native": "low-bit GEMV, 2 bits",
    "kernels/int4-gemv-native": "low-bit GEMV, 4 bits",
    "kernels/kv-cache-attention": "quantised KV cache",
    "kernels/moe-dispatch": "dispatch to a mixture of experts",
    "kernels/norm-gelu-backward": "layer norm and GELU with recomputation",
    "kernels/shared-lookup-native": "secret-shared table look-up",
    "kernels/small-layers": "horizontally fused small layers",
    "kernels/splat-blending-native": "blending of Gaussian splats",
    "kernels/spmm": "graph SpMM",
    "kernels/two-pass-softmax-native": "two-pass softmax",
    "kernels/vq-gemv": "vector-quantised dequantisation",
}
"""Folder below `TASKS` -> the workload."""


@dataclass(frozen=True, slots=True)
class Record:
    """What one audit came to.

    Attributes:
        nulls: candidates that do no work and apply to the task.
        accepted: those of them that the oracle accepts.
        made: mutants that the target has.
        ran: those that were tried and build.
        survivors: ids of those that the oracle took for the target.
    """

    nulls: int
    accepted: tuple[str, ...]
    made: int
    ran: int
    survivors: tuple[str, ...]


def target_of(id: str) -> str:
    """Returns the target that ``whet audit`` takes for a task."""
    folder = TASKS / id
    return str(folder if (folder / FILENAME).is_file() else folder / "problem.py")


def record_of(found: Audit) -> Record:
    """Returns what is kept of an audit."""
    applicable = sum(null.inputs > 0 for null in found.nulls)
    survivors = tuple(sorted(mutant.id for mutant in found.survivors))
    return Record(applicable, found.accepted, found.made, len(found.ran), survivors)


def records() -> dict[str, Record]:
    """Returns the recorded audits by the tasks' ids."""
    if not RECORDS.is_file():
        return {}
    table: Mapping[str, Mapping[str, Sequence[str] | int]] = json.loads(RECORDS.read_text(encoding="utf-8"))
    lists = ("accepted", "survivors")
    return {
        id: Record(**{name: tuple(value) if name in lists else value for name, value in of.items()})  # type: ignore[arg-type]
        for id, of in table.items()
    }


def unexcused(id: str, record: Record) -> tuple[str, ...]:
    """Returns the survivors of a task of which it is not said why no input can tell them from the target."""
    return tuple(one for one in record.survivors if one not in reasons(TASKS / id))


def main(ids: Sequence[str]) -> None:
    """Audits tasks and records each as soon as it is done."""
    from whet.evaluators.audit import audit

    for id in ids or LITERATURE:
        found = audit(target_of(id), seed=SEED, workers=1)
        kept = {**records(), id: record_of(found)}
        text = json.dumps({name: asdict(kept[name]) for name in sorted(kept)}, indent=2)
        RECORDS.write_text(f"{text}\n", encoding="utf-8")
        print(f"{id}: {kept[id]}", flush=True)
        for mutant in found.survivors:
            print(f"survivor {mutant.id}, line {mutant.line}, {mutant.operator}\n{mutant.diff}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
