"""Sizes up a problem file on tensors without elements. No candidate shares its process.

Torch's ``meta`` device knows shapes and types only: what 60 GB would take is told at once, in no memory.
"""

from __future__ import annotations

import types

from .channel import Channel, set_limits
from .landlock import restrict

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself would cost each start 8 ms
    from typing import Any

META = "meta"


def sized(text: str, filename: str) -> tuple[int, int, int, int, str]:
    """Returns what one call of a problem's module takes.

    Returns:
        bytes of inputs and of weights, bytes that the operations write, floating-point operations of products and
        convolutions, and the error of the call, if any.
    """
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_leaves
    from torch.utils.flop_counter import FlopCounterMode

    class WrittenBytes(TorchDispatchMode):  # type: ignore[misc, no-untyped-call, unused-ignore]
        total = 0

        def __torch_dispatch__(self, function: Any, kinds: Any, args: Any = (), kwargs: Any = None) -> Any:
            found = function(*args, **(kwargs or {}))
            self.total += size_of(found)
            return found

    def size_of(value: Any) -> int:
        return sum(one.numel() * one.element_size() for one in tree_leaves(value) if isinstance(one, torch.Tensor))

    problem = types.ModuleType("problem")
    exec(compile(text, filename, "exec"), problem.__dict__)
    written: Any = WrittenBytes()  # type: ignore[no-untyped-call, unused-ignore]
    error, counted = "", FlopCounterMode(display=False)
    with torch.no_grad(), torch.device(META):
        inputs = list(problem.get_inputs())
        model = problem.Model(*problem.get_init_inputs())
        weights = size_of([*model.parameters(), *model.buffers()])
        try:
            with counted, written:
                model(*inputs)
        except Exception as raised:  # either its own fault, or an operation that needs the elements
            error = f"{type(raised).__name__}: {raised}"[:300]
    return size_of(inputs), weights, written.total, counted.get_total_flops(), error


def serve(channel: Channel) -> None:
    """Answers messages until the world outside goes."""
    _, _, memory, processes, output, rules = channel.read()
    set_limits(memory, processes, output)
    if rules:
        restrict(*rules)
    while True:
        _, text, filename = channel.read()
        try:
            channel.write(("sized", *sized(text, filename)))
        except Exception as error:  # a problem file may raise anything
            channel.write(("error", type(error).__name__, str(error)[:300]))


def main() -> None:
    """Entry of the process."""
    channel = Channel()
    try:
        serve(channel)
    except EOFError:
        return
