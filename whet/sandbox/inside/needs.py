"""How much of its inputs a torch module's outcome depends on: that has to be read, however it is computed.

No candidate shares its process.
"""

from __future__ import annotations

import random

from .codec import encode

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself would cost each start 8 ms
    from typing import Any

    from .module_target import ModuleTarget

LARGE = 1e4
"""What an element is set to, with either sign: far from what problems draw, and a number in every type of float."""


def needs(target: ModuleTarget, payload: bytes, seed: int, tries: int) -> tuple[int, int, int, int, int]:
    """Changes one element of the inputs at a time, drawn at random over their bytes.

    Returns:
        changes tried; how many of them showed in the outcome; bytes of the inputs; bytes of results that are no part
        of an input; bytes of the device's second-level cache. No change is tried where two calls on the same input
        differ.
    """
    import torch

    def result(args: Any, given: Any) -> Any:
        return target.call(given["init"], args, given["kwargs"])[1]

    def outcome(number: int | None = None, index: int = 0, value: Any = None) -> bytes:
        given = target.read(payload)
        args = list(given["args"])
        if number is not None:
            args[number] = args[number].detach().clone(memory_format=torch.contiguous_format)
            args[number].view(-1)[index] = value
        return encode(result(tuple(args), given))

    given = target.read(payload)
    inputs = [
        (n, one) for n, one in enumerate(given["args"]) if isinstance(one, torch.Tensor) and one.layout == torch.strided
    ]
    memory = _memory([one for _, one in inputs])
    results = _memory(torch.utils._pytree.tree_leaves(result(given["args"], given)))
    cache = target.clock.l2 if target.clock is not None else 0
    sizes = sum(memory.values()), sum(size for place, size in results.items() if place not in memory), cache
    plain = outcome()
    filled = [(n, one) for n, one in inputs if one.numel()]
    if plain != outcome() or not filled:
        return 0, 0, *sizes
    rng = random.Random(seed)
    shown = 0
    weights = [one.numel() * one.element_size() for _, one in filled]
    for _ in range(tries):
        ((number, one),) = rng.choices(filled, weights)
        index = rng.randrange(one.numel())
        shown += any(outcome(number, index, value) != plain for value in _values(one, rng))
    return tries, shown, *sizes


def _values(tensor: Any, rng: random.Random) -> list[Any]:
    """Returns what an element of a tensor may be set to."""
    if tensor.is_floating_point() or tensor.is_complex():
        return [LARGE, -LARGE]
    # Whole numbers may be places or classes: only those that are there are surely allowed.
    flat = tensor.reshape(-1)
    return [flat[rng.randrange(tensor.numel())].item() for _ in range(2)]


def _memory(values: Any) -> dict[int, int]:
    """Returns the place of each piece of memory that some tensors lie in, and how many bytes of it they may use."""
    import torch

    found: dict[int, int] = {}
    for one in values:
        if isinstance(one, torch.Tensor) and one.layout == torch.strided:
            storage = one.untyped_storage()
            size = min(one.numel() * one.element_size(), storage.nbytes())
            place = storage.data_ptr()
            found[place] = max(found.get(place, 0), size)
    return found
