"""A torch module as a target: built outside the clock under a seed, called on fresh tensors.

The weights follow from the seed alone: baseline and candidate are constructed right after it was set, as the suites
do, each in a process of its own.
"""

from __future__ import annotations

import copy
import os

from .codec import CodecError, encode
from .decode import decode
from .heap import keep_heap
from .loading import load_module, resolver
from .torch_flags import turn_on
from .torch_loader import install
from .whet_native import Unbuilt
from .without_device import as_cpu, mentions, prepare_triton

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself would cost each start 8 ms
    from collections.abc import Iterator
    from typing import Any

    from .cuda_clock import CudaClock

NEW = "ModelNew"
"""What the class of an answer is called; one that has none may name it as the problem does."""
INTERPRETER = "interpreter"
"""The device of an answer for a GPU where there is none."""
FUNCTION = "AutogradFunction"
"""Of a harness with backward passes: what calls the slot of that name."""
KEPT = 2
"""Modules that are kept built: their weights may fill the memory."""
POISONED = 86
"""Exit code of a process whose CUDA context a kernel broke."""
POISON = 255
"""Of each byte: not a number in every float type, -1 in signed integers."""
ARGUMENTS = encode("args")
"""What stands before the arguments in an input."""
HOLES = 32
"""Blocks that are poisoned for each output at most. More cover more of what the allocator may hand out, and take longer
at each input."""
POISONED_BYTES = 1 << 20
"""Bytes that are poisoned for each output; at least one block. More cover more large outputs, and take longer too."""


class Broken:
    """What stands for a module whose constructor raised: a call raises the same."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def __call__(self, *args: Any) -> Any:
        raise self.error


class ModuleTarget:
    """A loaded torch module. Its methods are those of `invocation.Target`.

    Args:
        tree: the staged tree.
        filename: of the file in it.
        symbol: the problem's class.
        device: as torch names it.
        backward: whether a call gives gradients too.
        harness: file of the tree with the class that calls a function of the answer; empty for none.
        slot: that function.
        flags: switches of torch that are on when a module is made, whatever the file or an earlier one did with them.
    """

    def __init__(
        self,
        tree: str,
        filename: str,
        symbol: str,
        device: str,
        backward: bool,
        harness: str,
        slot: str,
        flags: tuple[str, ...],
    ) -> None:
        import torch

        keep_heap()
        self.torch: Any = torch
        self.full, self.uint8 = self.torch.full, torch.uint8  # before any foreign code
        self.device = device
        self.clock: CudaClock | None = cuda_clock() if device.startswith("cuda") else None
        self.lend_libraries(tree)
        self.backward = backward
        self.flags = flags
        turn_on(torch, flags)
        self.module = load_module(tree, filename)
        self.path = os.path.join(tree, filename)
        self.extra: dict[str, Any] = {}
        self.owner: Any = getattr(self.module, NEW, None) or getattr(self.module, symbol, None)
        if self.owner is None:
            if not harness:
                raise AttributeError(f"it defines no class {NEW}")
            self.owner = self.harnessed(load_module(tree, harness), symbol, slot)
        self.resolve = resolver(self.module)
        self.built: dict[bytes, Any] = {}
        self.sizes: tuple[int, ...] = ()

    def lend_libraries(self, tree: str) -> None:
        """Lets the answer find what was compiled for it."""
        install(tree, self.device.startswith("cuda"))

    def harnessed(self, harness: Any, symbol: str, slot: str) -> Any:
        """Returns the class of a harness that calls a function of the answer."""
        function = getattr(self.module, slot)
        if slot == "backward_fn":
            passes = getattr(harness, FUNCTION)
            passes.backward_fn = staticmethod(function)
            function = passes.apply
        self.extra = {"fn": function}
        return getattr(harness, symbol)

    def decode(self, payload: bytes) -> tuple[Any, Any, Any]:
        """Returns (the module, its arguments, the gradients of its outputs) of one input."""
        given = self.read(payload)
        return given["init"], given["args"], given["kwargs"]

    def read(self, payload: bytes) -> dict[str, Any]:
        """Returns an input: the module under ``init``, ``args``, and the gradients of its outputs under ``kwargs``."""
        given = decode(payload, self.resolve)
        try:
            self.poison()
            kwargs = {name: self.moved(tensors) for name, tensors in given.get("kwargs", {}).items()}
            return {"init": self.fresh(self.build(given["init"])), "args": self.moved(given["args"]), "kwargs": kwargs}
        except Exception as error:
            if self.clock is None or not out_of_memory(error):
                raise
            return {"init": Broken(MemoryError(str(error))), "args": (), "kwargs": {"upstream": ()}}

    def poison(self) -> None:
        """Has what the allocator will hand out for the next outputs hold no number, least of all a right one."""
        for size in self.sizes:
            # All at once: a heap has many holes of a small size.
            count = max(1, POISONED_BYTES // max(size, 1))
            _ = [self.full((size,), POISON, dtype=self.uint8, device=self.device) for _ in range(min(count, HOLES))]

    def build(self, init: Any) -> Any:
        """Returns the module of (seed, arguments of the constructor, keywords); the same one for the same init."""
        key = encode(init)
        if key not in self.built:
            if len(self.built) >= KEPT:
                del self.built[next(iter(self.built))]
            seed, arguments, keywords = init
            turn_on(self.torch, self.flags)
            try:
                self.torch.manual_seed(seed)
                self.built[key] = self.owner(*self.moved(arguments), **keywords).to(self.device)
            except (Exception, Unbuilt) as error:  # what a candidate's constructor raises is the outcome of its calls
                self.built[key] = Broken(error)
        return self.built[key]

    def fresh(self, module: Any) -> Any:
        """Returns a module with the weights of a given one, and buffers and tensors of its own.

        Some problems keep a hidden state in an attribute: each call shall meet it as the constructor left it.
        """
        nn = self.torch.nn
        if not isinstance(module, nn.Module) or isinstance(module, self.torch.jit.ScriptModule):
            return module
        twin = module.__class__.__new__(module.__class__)
        fields = dict(module.__dict__)
        for name, value in fields.items():
            if isinstance(value, self.torch.Tensor) and not isinstance(value, nn.Parameter):
                fields[name] = value.detach().clone()
        fields["_buffers"] = {name: None if one is None else one.clone() for name, one in module._buffers.items()}
        fields["_modules"] = {name: self.fresh(one) for name, one in module._modules.items()}
        twin.__dict__.update(fields)
        return twin

    def moved(self, arguments: Any) -> tuple[Any, ...]:
        """Returns arguments with their tensors on the device."""
        tensor = self.torch.Tensor
        return tuple([one.to(self.device) if isinstance(one, tensor) else one for one in arguments])

    def call(self, init: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
        """Returns (None, result); with gradients, the result is (what came back, gradients by name)."""
        if self.clock is not None:
            return None, self.on_device(self.clock, init, args, kwargs)
        return None, self.result(init, args, kwargs)

    def result(self, init: Any, args: Any, kwargs: Any) -> Any:
        """Returns what a call gives, which a device may still be at work on."""
        if self.backward:
            return self.gradients(init, args, kwargs["upstream"])
        with self.torch.no_grad():
            return init(*args, **self.extra)

    def gradients(self, module: Any, args: Any, upstream: Any) -> tuple[Any, dict[str, Any]]:
        """Returns what a module gives, and the gradients of its inputs and parameters by name."""
        tensor = self.torch.Tensor
        leaves = [
            one.detach().requires_grad_() if isinstance(one, tensor) and one.is_floating_point() else one
            for one in args
        ]
        result = module(*leaves, **self.extra)
        wanted = {f"input {i}": one for i, one in enumerate(leaves) if one is not args[i]}
        wanted.update((name, one) for name, one in module.named_parameters() if one.requires_grad)
        outputs = [one for one in _tensors(result, tensor) if one.is_floating_point()]
        found = self.torch.autograd.grad(outputs, list(wanted.values()), upstream, allow_unused=True)
        return _detached(result, tensor), dict(zip(wanted, found))  # noqa: B905 (3.10 inside; as many as were wanted)

    def on_device(self, clock: CudaClock, init: Any, args: Any, kwargs: Any) -> Any:
        """Returns the result of a call when the device has done with it, on all of its streams."""
        clock.begin()
        try:
            value = self.result(init, args, kwargs)
            clock.end()
            return value
        except BaseException as error:
            if clock.broken():
                # Whatever came next in this process would fail for what this call did: another one takes its place.
                os._exit(POISONED)
            clock.end()
            if out_of_memory(error):
                raise MemoryError(str(error)) from None
            raise

    def outcome(self, kind: str, value: Any) -> Any:
        """Returns what came of a call as it is stored, and remembers how large it was."""
        if kind == "value":
            self.sizes = tuple([one.nbytes for one in _tensors(value, self.torch.Tensor)])
        return value

    def left(self, payload: bytes, given: Any) -> Any:
        """Returns the arguments after a call; None where they are as they came."""
        if isinstance(given["init"], Broken):  # nothing has met them
            return None
        try:
            now = encode(given["args"])
            # Most end with them as they came; to build an input anew takes far longer.
            if payload.endswith(ARGUMENTS + now) or now == encode(self.moved(decode(payload, self.resolve)["args"])):
                return None
        except CodecError:  # what became of them is told when they are stored
            pass
        return given["args"]

    changed = left

    def in_rounds(self, inputs: list[Any], rounds: int, invoke: Any, take: Any, clocks: Any) -> Any:
        """See `module_rounds.in_rounds`."""
        from .module_rounds import in_rounds

        return in_rounds(self, inputs, rounds, invoke, take, clocks[1])

    def in_new_rounds(
        self, laid: list[Any], payloads: list[bytes], asked: list[int], settling: int, once: Any, take: Any, clocks: Any
    ) -> Any:
        """Calls once an input on as many new ones as a pass had, and on all; see `module_rounds.renewed`."""
        from .module_rounds import renewed

        inputs = renewed(self, laid, payloads)
        (spent, _), (cpu, _), results = self.in_rounds(inputs, 1, once, take, clocks)
        return spent, cpu, 0, 0, 0, inputs, results

    def doubled(self, init: Any) -> Any:
        """Returns the module of an input in float64, its weights rounded as the problem's are."""
        built = self.build(init)
        if isinstance(built, Broken):
            return built
        twin = copy.deepcopy(built).double()
        for module in twin.modules():
            for name, value in list(vars(module).items()):
                if isinstance(value, self.torch.Tensor) and value.is_floating_point():
                    setattr(module, name, value.double())
        return twin


def cuda_clock() -> CudaClock:
    """Returns the clock of the GPU, made before any foreign code is loaded."""
    from .cuda_clock import CudaClock

    return CudaClock()


def out_of_memory(error: BaseException) -> bool:
    """Whether an error says that the device has no memory left, whoever asked for it."""
    return "out of memory" in str(error)


def _tensors(value: Any, tensor: type) -> Iterator[Any]:
    """Yields the tensors of an output."""
    if isinstance(value, tensor):
        yield value
    elif isinstance(value, (tuple, list)):
        for one in value:
            yield from _tensors(one, tensor)
    elif isinstance(value, dict):
        yield from _tensors(list(value.values()), tensor)


def _detached(value: Any, tensor: type) -> Any:
    """Returns an output without what its gradients are computed from."""
    if isinstance(value, tensor):
        return value.detach()  # type: ignore[attr-defined]
    if isinstance(value, (tuple, list)):
        return type(value)([_detached(one, tensor) for one in value])
    if isinstance(value, dict):
        return {key: _detached(one, tensor) for key, one in value.items()}
    return value


class InterpretedTarget(ModuleTarget):
    """A torch module written for a GPU, on the CPU: its Triton kernels run in Triton's interpreter."""

    def __init__(self, tree: str, filename: str, symbol: str, *form: Any) -> None:
        if mentions(os.path.join(tree, filename), "triton"):
            prepare_triton(interpret=True)
        with as_cpu():
            super().__init__(tree, filename, symbol, "cpu", *form)

    def build(self, init: Any) -> Any:
        """See `ModuleTarget.build`."""
        with as_cpu():
            return super().build(init)

    def call(self, init: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
        """See `ModuleTarget.call`."""
        with as_cpu():
            return super().call(init, args, kwargs)


def open_module(tree: str, filename: str, symbol: str, device: str, *form: Any) -> ModuleTarget:
    """Loads a torch module for a device, as torch names it, or for the ``interpreter``; see `ModuleTarget`."""
    if device == INTERPRETER:
        return InterpretedTarget(tree, filename, symbol, *form)
    return ModuleTarget(tree, filename, symbol, device, *form)
