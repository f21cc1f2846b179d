"""Where rows are measured, and what of it problems need."""

from __future__ import annotations

import shutil
from importlib import metadata

from whet.benchmarks.lab.base import Lab
from whet.benchmarks.results import Machine
from whet.evaluators.evidence import provenance
from whet.evaluators.kernels.device import lacking
from whet.sandbox.nvml import Gpu, find_gpu
from whet.sandbox.toolchains.cuda import packages

COMMANDS = {"mpi": "mpirun"}
"""Need -> the command that meets it; other needs are named as their command is."""


def this_machine(lab: Lab) -> Machine:
    """Describes this machine as rows have it."""
    here, gpu = provenance.machine(), find_gpu()
    return Machine(
        processor=here.cpu,
        cores=here.cores,
        gpu=gpu.name if isinstance(gpu, Gpu) else "",
        sandbox=str(lab.sandbox.facts["backend"]),
        system=here.system,
        whet=metadata.version("whet"),
    )


def missing(need: str, lab: Lab) -> str:
    """Returns why a need of a problem cannot be met here; empty where it can, or where there is none."""
    if not need:
        return ""
    if need == "cuda":
        return lacking(find_gpu(), lab.interpreter)
    if need == "torch":
        return "" if "torch" in packages(lab.interpreter) else "torch is not installed: pip install whet[torch]"
    command = COMMANDS.get(need, need)
    return "" if shutil.which(command) else f"{command} is not installed"
