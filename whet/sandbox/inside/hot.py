"""Times calls of a device whose caches still hold what the call before has left."""

from __future__ import annotations

from .invocation import invoke, parts

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself would cost each start 8 ms
    from .module_target import ModuleTarget


def hot_calls(target: ModuleTarget, payload: bytes, count: int) -> list[int]:
    """Returns the nanoseconds of some calls on one input; one more goes before them.

    Raises:
        ValueError: the target is on no device.
    """
    clock = target.clock
    if clock is None:
        raise ValueError("calls on the CPU have no cold caches to compare with")
    given = parts(target.read(payload))
    found = []
    for _ in range(count + 1):
        clock.settle(cold=False)
        found.append(invoke(target, *given)[3])
    return found[1:]
