"""Calls an answer under a profiler: a program, run with ``-m`` in a process of its own; it needs torch alone.

Its arguments: the tree of the built answer, the answer's file in it, the problem's file, the device, and ``once``, for
Nsight Compute, or ``many``, for torch's own profiler, of which it prints a line of JSON.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

from whet.sandbox.inside.torch_loader import install

WARM = 3  # calls before those that are profiled; fewer let one-time work, such as compilation, into the profile
CALLS = 20  # calls under torch's profiler, whose mean counts; more even out noise and make a longer trace


def loaded(name: str, path: Path) -> Any:
    """Returns a file as a module."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def main(tree: str, answer: str, problem: str, device: str, way: str) -> None:
    """Calls an answer on inputs of its problem."""
    torch: Any = importlib.import_module("torch")
    install(tree, device.startswith("cuda"))
    asked = loaded("problem", Path(problem))
    answered = loaded("answer", Path(tree, answer))
    torch.manual_seed(0)
    model = getattr(answered, "ModelNew", None) or answered.Model
    module = model(*asked.get_init_inputs()).to(device)
    inputs = [one.to(device) if isinstance(one, torch.Tensor) else one for one in asked.get_inputs()]
    wait = torch.cuda.synchronize if device.startswith("cuda") else lambda: None
    with torch.no_grad():
        for _ in range(WARM):
            module(*inputs)
        wait()
        if way == "once":
            runtime = torch.cuda.cudart()
            runtime.cudaProfilerStart()
            module(*inputs)
            wait()
            runtime.cudaProfilerStop()
            return
        activities = torch.profiler.supported_activities()
        with torch.profiler.profile(activities=activities) as profiler:
            for _ in range(CALLS):
                module(*inputs)
            wait()
    print(json.dumps({"calls": CALLS, **on_device(profiler)}))


def on_device(profiler: Any) -> dict[str, float]:
    """Returns how often kernels were launched, and how long they ran in all."""
    events = [one for one in profiler.events() if one.device_type.name == "CUDA"]
    return {"launches": len(events), "seconds": sum(one.time_range.elapsed_us() for one in events) * 1e-6}


if __name__ == "__main__":
    main(*sys.argv[1:])
