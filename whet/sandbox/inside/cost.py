"""What one call of a torch module computes and moves, by counting its operations. No candidate shares its process."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself would cost each start 8 ms
    from typing import Any

    from .module_target import ModuleTarget


def cost(target: ModuleTarget, payload: bytes) -> tuple[int, int, int, int, str, str]:
    """Runs an input once and counts.

    Returns:
        floating-point operations of products, convolutions and attention; bytes of inputs, weights and results; bytes
        that its operations write one by one; how many they are; the type of most of the inputs' bytes; the GPU's name,
        empty on the CPU.
    """
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_leaves
    from torch.utils.flop_counter import FlopCounterMode

    def tensors(value: Any) -> list[Any]:
        return [one for one in tree_leaves(value) if isinstance(one, torch.Tensor)]

    def size_of(found: list[Any]) -> int:
        # A sparse tensor, say, tells no bytes of its elements by its shape.
        return sum(one.numel() * one.element_size() for one in found if one.layout == torch.strided)

    class Operations(TorchDispatchMode):  # type: ignore[misc, no-untyped-call, unused-ignore]
        count = written = 0

        def __torch_dispatch__(self, function: Any, kinds: Any, args: Any = (), kwargs: Any = None) -> Any:
            found = function(*args, **(kwargs or {}))
            if not any(way.alias_info and not way.alias_info.is_write for way in function._schema.returns):
                self.count += 1  # a view computes nothing
                self.written += size_of(tensors(found))
            return found

    given = target.read(payload)
    module, args = given["init"], given["args"]
    weights = [*module.parameters(), *module.buffers()] if isinstance(module, torch.nn.Module) else []
    operations: Any = Operations()  # type: ignore[no-untyped-call, unused-ignore]
    with FlopCounterMode(display=False) as counter, operations:
        _, result = target.call(module, args, {})
    inputs = tensors(args)
    largest = max(inputs or weights, key=lambda one: one.numel() * one.element_size(), default=None)
    number = "" if largest is None else str(largest.dtype).removeprefix("torch.")
    device = torch.cuda.get_device_name() if target.device.startswith("cuda") else ""
    moved = size_of(inputs) + size_of(weights) + size_of(tensors(result))
    return counter.get_total_flops(), moved, operations.written, operations.count, number, device
