"""Where a kernel problem runs: on the GPU that is here, else on the CPU."""

from __future__ import annotations

import re
from dataclasses import replace

from whet.core.errors import UsageError
from whet.core.options import Options
from whet.core.task import Launch, Task
from whet.sandbox.inside.module_target import INTERPRETER
from whet.sandbox.interpreter import Interpreter
from whet.sandbox.nvml import Gpu, find_gpu
from whet.sandbox.toolchains.cuda import packages

CPU, CUDA = "cpu", "cuda"
DEFAULT_ARCH = "sm_90"
"""What answers are compiled for where neither the user nor a GPU says."""
LARGEST_UNTIMED = 10_000
"""Of the sizes of a kernel in PTX that nothing here can run."""
BUILT = re.compile(r"^cuda(?:: [^=]+)? = (?:'(\d+)\.(\d+)'|None)", re.MULTILINE)


def placed(task: Task, options: Options, interpreter: Interpreter) -> Task:
    """Returns a task on its device, with the switches of torch that both sides run with there.

    Raises:
        UsageError: ``--device cuda`` was asked for, and there is none, or its driver or torch does not serve; or
            switches of torch were named for what is no torch module.
    """
    if options.torch_flags is not None:
        task = _switched(task, options.torch_flags)
    if task.launch is not None:
        return _launched(task, task.launch, options)
    if task.module is None:
        if options.device == CUDA:
            raise UsageError(f"--device cuda is for kernels; {task.name} runs on the CPU")
        return task
    if options.device == CPU or task.module.device == INTERPRETER:
        return task
    why_not = lacking(find_gpu(), interpreter)
    if not why_not:
        return replace(task, module=replace(task.module, device=CUDA))
    if options.device == CUDA:
        raise UsageError(f"--device cuda: {why_not}; without it CUDA and Triton answers are checked, and not timed")
    return task


def _switched(task: Task, flags: str) -> Task:
    if task.module is None:
        raise UsageError(f"--torch-flags is for torch modules; {task.name} is none")
    return replace(task, module=replace(task.module, flags=tuple(dict.fromkeys(flags.split(",")))))


def _launched(task: Task, launch: Launch, options: Options) -> Task:
    """Returns the task of a kernel in PTX, which the driver alone starts, on its device."""
    if launch.device == CUDA:
        return task
    gpu = CPU if options.device == CPU else find_gpu()
    if isinstance(gpu, Gpu):
        return replace(task, launch=replace(launch, device=CUDA))
    if options.device == CUDA:
        raise UsageError(f"--device cuda: {gpu}; without it PTX is assembled and compared, and neither run nor timed")
    sizes = task.workload.sizes
    few = tuple(size for size in sizes if size <= LARGEST_UNTIMED) or sizes[:1]
    return replace(task, workload=replace(task.workload, sizes=few))  # of the reference, which alone can run


def lacking(gpu: Gpu | str, interpreter: Interpreter) -> str:
    """Returns why torch cannot use a GPU, in a line; empty where it can."""
    if isinstance(gpu, str):
        return gpu
    return unfit(gpu, built_for(interpreter))


def built_for(interpreter: Interpreter) -> tuple[int, int] | None:
    """Returns (major, minor) of the CUDA that an interpreter's torch was built for, None for none; imports nothing."""
    folder = packages(interpreter).get("torch")
    try:
        text = (folder / "version.py").read_text(encoding="utf-8") if folder else ""
    except OSError:
        text = ""
    found = BUILT.search(text)
    return (int(found[1]), int(found[2])) if found and found[1] else None


def unfit(gpu: Gpu, torch: tuple[int, int] | None) -> str:
    """Returns why a torch does not fit a driver, in a line; empty where it does.

    A driver runs every program of its own major version of CUDA and of older ones (NVIDIA, "CUDA Compatibility").
    """
    if torch is None:
        return f"{gpu.name} is here, but torch was built without CUDA; install a CUDA build of torch"
    if torch[0] > gpu.cuda[0]:
        newest = ".".join(map(str, gpu.cuda))
        wanted = ".".join(map(str, torch))
        return f"driver {gpu.driver} runs CUDA up to {newest}, and torch needs {wanted}; update the driver"
    return ""


def chosen_arch(options: Options) -> str:
    """Returns the architecture to compile for: the one asked for, else that of the GPU here, else `DEFAULT_ARCH`."""
    if options.arch is not None:
        return options.arch
    gpu = find_gpu()
    return gpu.arch if isinstance(gpu, Gpu) else DEFAULT_ARCH
