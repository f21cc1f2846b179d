"""Stands in for a GPU where there is none: answers written for one load, are built and called on the CPU.

Triton kernels then run in Triton's interpreter. Nothing that is found so tells how fast an answer is.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself would cost each start 8 ms
    from typing import Any

DEVICE = "cuda"
SIGNS = (
    "Torch not compiled with CUDA",
    "No CUDA GPUs",
    "no NVIDIA driver",
    "0 active drivers",
    "CUDA_HOME",
    "dummy base class",
)
"""What torch and Triton say where there is no GPU."""


def mentions(path: str, word: str) -> bool:
    """Whether a file holds a word; one that cannot be read does not."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return word in file.read()
    except OSError:
        return False


def prepare_triton(interpret: bool) -> None:
    """Makes ready for a file that uses Triton, before anybody imports that; nothing where it is not installed.

    Args:
        interpret: whether kernels are to run on the CPU.
    """
    if interpret:
        os.environ["TRITON_INTERPRET"] = "1"
    else:
        os.environ.pop("TRITON_INTERPRET", None)
    try:
        from triton.runtime.autotuner import Autotuner
    except ImportError:
        return
    begin = Autotuner.__init__

    def first_only(self: Any, function: Any, names: Any, configs: Any, *rest: Any, **named: Any) -> None:
        # To choose one is to time them all, and there is nothing here to time them on.
        begin(self, function, names, configs[:1], *rest, **named)

    Autotuner.__init__ = first_only


def as_cpu() -> Any:
    """Returns a context in which torch takes the name of a GPU for the CPU, and tensors say that they are on one."""
    import torch
    from torch.overrides import TorchFunctionMode

    def here(value: Any) -> Any:
        if isinstance(value, torch.device):
            return torch.device("cpu") if value.type == DEVICE else value
        return "cpu" if isinstance(value, str) and value.partition(":")[0] == DEVICE else value

    on_gpu = vars(torch._C.TensorBase)["is_cuda"].__get__

    class AsCpu(TorchFunctionMode):  # type: ignore[misc]
        def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if function == on_gpu:
                return True
            if function == torch.Tensor.cuda:
                return args[0]
            named = {key: here(value) for key, value in (kwargs or {}).items() if key != "pin_memory"}
            return function(*map(here, args), **named)

    return AsCpu()


def lacks_device(text: str) -> bool:
    """Whether the text of an error says no more than that there is no GPU."""
    return any(sign in text for sign in SIGNS)
