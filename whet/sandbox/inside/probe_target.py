"""Finds the kernels of an answer without running them: what it would launch, compiled for a GPU that need not be here.

What comes out is the answer's own word, as it shares the process: it serves to look at machine code, never a verdict on
what the answer computes.
"""

from __future__ import annotations

import base64
import json
import os
import types
from contextlib import suppress

from .module_target import ModuleTarget
from .without_device import as_cpu, lacks_device, prepare_triton

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself would cost each start 8 ms
    from typing import Any

MOST = 64
"""Kernels of an answer that are looked at."""
CACHE = "/tmp/triton"


class Recorder:
    """What an answer asked to be compiled.

    Attributes:
        kernels: of Triton: name, machine code, warps, shared memory and the like, as plain data.
        extensions: of torch's extension loader: what each call was given, as plain data.
    """

    def __init__(self) -> None:
        self.kernels: list[dict[str, Any]] = []
        self.extensions: list[dict[str, Any]] = []


class Driver:
    """A driver of Triton that has a GPU of a chosen architecture by name only."""

    def __init__(self, capability: int) -> None:
        from triton.backends.compiler import GPUTarget

        self.target = GPUTarget("cuda", capability, 32)

    def get_current_target(self) -> Any:
        """Returns what kernels are compiled for."""
        return self.target

    def get_current_device(self) -> int:
        """Returns the number of the one device."""
        return 0

    def get_current_stream(self, device: int) -> int:
        """Returns the stream on which nothing will run."""
        return 0

    def get_active_torch_device(self) -> Any:
        """Returns where tensors really lie."""
        import torch

        return torch.device("cpu")


def record_triton(recorder: Recorder, capability: int) -> None:
    """Has Triton compile what is launched, and launch nothing.

    Raises:
        ImportError: it is not installed.
    """
    from triton.runtime.driver import driver
    from triton.runtime.jit import JITFunction

    driver.set_active(Driver(capability))
    compiled = JITFunction.run
    seen: set[int] = set()

    def run(self: Any, *args: Any, grid: Any, warmup: bool, **named: Any) -> Any:
        kernel = compiled(self, *args, grid=grid, warmup=True, **named)
        if kernel is not None and id(kernel) not in seen and len(recorder.kernels) < MOST:
            seen.add(id(kernel))
            meta = kernel.metadata
            recorder.kernels.append(
                {
                    "name": str(meta.name),
                    "cubin": base64.b64encode(kernel.asm["cubin"]).decode(),
                    "warps": int(meta.num_warps),
                    "stages": int(meta.num_stages),
                    "shared": int(meta.shared),
                }
            )
        return kernel

    JITFunction.run = run


class Unbuilt(types.ModuleType):
    """What stands for an extension that was not built: any function of it says so."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)

        def lacks(*args: Any, **named: Any) -> Any:
            raise RuntimeError("No CUDA GPUs are available")

        return lacks


def record_extensions(recorder: Recorder) -> None:
    """Has torch's extension loader note what it was given, and build nothing."""
    import torch.utils.cpp_extension as loader

    def noted(name: str, *args: Any, **named: Any) -> Any:
        order = ("cpp_sources", "cuda_sources", "functions", "extra_cflags", "extra_cuda_cflags")
        given = {**dict(zip(order, args)), **named}  # noqa: B905 - further arguments are of no interest
        recorder.extensions.append({key: words(given[key]) for key in order if given.get(key)} | {"name": str(name)})
        return Unbuilt(str(name))

    loader.load_inline = noted


def words(value: Any) -> list[str]:
    """Returns texts that may have been given as one."""
    return [value] if isinstance(value, str) else [str(one) for one in value]


class ProbeTarget(ModuleTarget):
    """A module whose call answers what it would have launched. Its methods are those of `invocation.Target`.

    Args:
        tree: the staged tree.
        filename: of the answer in it.
        symbol: the problem's class.
        capability: of the GPU to compile for: 90 for sm_90.
    """

    def __init__(self, tree: str, filename: str, symbol: str, capability: int) -> None:
        self.recorder = Recorder()
        os.environ["TRITON_CACHE_DIR"] = CACHE
        prepare_triton(interpret=False)
        with suppress(ImportError):  # an answer that needs it fails when it is loaded
            record_triton(self.recorder, capability)
        with as_cpu():
            super().__init__(tree, filename, symbol, "cpu", backward=False, harness="", slot="", flags=())

    def lend_libraries(self, tree: str) -> None:
        """Notes what the answer would have compiled."""
        record_extensions(self.recorder)

    def call(self, init: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
        """Returns (None, what was recorded and what the answer raised besides, as JSON)."""
        raised, lacks = "", False
        try:
            with as_cpu(), self.torch.no_grad():
                init(*args)
        except Exception as error:  # of no matter but for the kernels after it
            raised, lacks = f"{type(error).__name__}: {error}"[:2000], lacks_device(str(error))
        found = {"kernels": self.recorder.kernels, "extensions": self.recorder.extensions}
        return None, json.dumps({**found, "raised": raised, "no_device": lacks})

    def left(self, payload: bytes, given: Any) -> Any:
        """Returns None: what a call does to its arguments says nothing here."""
        return None
