"""Rounds of calls of a torch module: to hand over an input takes ten times as long as many a call.

Each round meets the inputs as they came, in the memory that they have, but as tensors that are objects of their own,
and a module as its constructor left it: what was put down on one of them is gone.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself would cost each start 8 ms
    from collections.abc import Callable
    from typing import Any, Protocol

    class Repeatable(Protocol):
        """What is asked of a `module_target.ModuleTarget`."""

        torch: Any

        def read(self, payload: bytes) -> Given: ...
        def fresh(self, module: Any) -> Any: ...
        def poison(self) -> None: ...

    Given = dict[str, Any]
    Came = tuple[str, Any, Any, int]


class Lasting:
    """An input that is called on more than once.

    Args:
        target: whose input it is.
        given: the input, as `ModuleTarget.read` returns it, before anything was called on it.
    """

    def __init__(self, target: Repeatable, given: Given) -> None:
        self._target = target
        self._module = given["init"]
        self._given = given
        # Never handed out, so a call cannot make them point elsewhere.
        self._twins = {id(one): one.detach() for one in tensors_of(target, given)}
        self._memory = [one.untyped_storage() for one in self._twins.values()]
        self._contents = [one.clone() for one in self._memory]

    def anew(self) -> Given:
        """Returns the input as it came.

        All of its memory is written, whether or not torch knows of a change: a kernel that writes through a pointer
        could leave a mark there for the next round, and take it away again.
        """
        for memory, contents in zip(self._memory, self._contents):  # noqa: B905 (3.10 inside)
            memory.copy_(contents)
        return self.objects()

    def renewed(self, other: Given) -> Given:
        """Returns another input, in the memory of this one where that is as large."""
        for memory, one in zip(self._memory, tensors_of(self._target, other)):  # noqa: B905 (3.10 inside)
            if memory.nbytes() != one.untyped_storage().nbytes():
                return other
            memory.copy_(one.untyped_storage())
        return {**self.objects(), "init": self._target.fresh(other["init"])}

    def objects(self) -> Given:
        """Returns the input as objects that nothing was called on."""
        kwargs = {name: tuple(map(self.twin, group)) for name, group in self._given["kwargs"].items()}
        args = tuple(map(self.twin, self._given["args"]))
        return {"init": self._target.fresh(self._module), "args": args, "kwargs": kwargs}

    def twin(self, value: Any) -> Any:
        """Returns another tensor over the memory of a given one; what is none stays what it is."""
        held = self._twins.get(id(value))
        if held is None:
            return value
        twin = held.detach()
        if isinstance(value, self._target.torch.nn.Parameter):
            return self._target.torch.nn.Parameter(twin, value.requires_grad)
        return twin.requires_grad_(value.requires_grad)


def tensors_of(target: Repeatable, given: Given) -> Any:
    """Yields the tensors among the arguments of an input, and the gradients of its outputs."""
    for group in (given["args"], *given["kwargs"].values()):
        yield from (one for one in group if isinstance(one, target.torch.Tensor))


def in_rounds(
    target: Repeatable,
    inputs: list[Given],
    rounds: int,
    invoke: Callable[..., Came],
    take: Callable[[], str],
    cpu: Callable[[], int],
) -> tuple[list[int], list[int], list[tuple[str, Any, Any, str]]]:
    """Calls once an input, and so ``rounds`` times over.

    Args:
        target: what is called.
        inputs: what it is called on; after the calls, as the last round left it.
        rounds: how often.
        invoke: calls once; see `invocation.invoke`.
        take: returns what a call printed.
        cpu: the clock of CPU time, in nanoseconds.

    Returns:
        nanoseconds in the calls of the first round and of all others, CPU nanoseconds in them likewise, and what came
        of the last: kind, instance, value and what was printed.
    """
    lasting = [Lasting(target, one) for one in inputs] if rounds > 1 else []  # a copy may not fit beside a large one
    spent, used = [0, 0], [0, 0]
    results: list[tuple[str, Any, Any, str]] = []
    for number in range(rounds):
        if lasting:
            inputs[:] = [one.anew() for one in lasting]
            target.poison()
        results = []
        for one in inputs:
            before = cpu()
            kind, instance, value, took = invoke(target, one["init"], one["args"], one["kwargs"])
            used[number > 0] += cpu() - before
            spent[number > 0] += took
            results.append((kind, instance, value, take()))
    return spent, used, results


def renewed(target: Repeatable, inputs: list[Given], payloads: list[bytes]) -> list[Given]:
    """Returns other inputs in the memory of those that a pass was called on, where that is as large."""
    target.poison()
    return [Lasting(target, one).renewed(target.read(other)) for one, other in zip(inputs, payloads)]  # noqa: B905
