"""``whet bench self scale``: what work elsewhere costs, how much one driver can give out, what kills do."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from whet.core.errors import UsageError, nearest


def _overhead(*, quick: bool) -> Iterator[str]:
    from whet.benchmarks.self.scale import overhead

    return overhead.report(*((40, 2) if quick else ()))


def _slots(*, quick: bool) -> Iterator[str]:
    from whet.benchmarks.self.scale import slots

    return slots.report(*((4, 1) if quick else ()))


def _flood(*, quick: bool) -> Iterator[str]:
    from whet.benchmarks.self.scale import flood

    return flood.report(*((3000, 500) if quick else ()))


def _simulation(*, quick: bool) -> Iterator[str]:
    from whet.benchmarks.self.scale import saturation

    return saturation.report(*((40, 1, (1, 10, 100)) if quick else ()))


def _kills(*, quick: bool) -> Iterator[str]:
    from whet.benchmarks.self.scale import faulting

    return faulting.kills(*((6, 10) if quick else ()))


def _raylets(*, quick: bool) -> Iterator[str]:
    from whet.benchmarks.self.scale import faulting

    return faulting.raylets(*((2, 100) if quick else ()))


PARTS: dict[str, Callable[..., Iterator[str]]] = {
    "overhead": _overhead,
    "slots": _slots,
    "flood": _flood,
    "simulation": _simulation,
    "kills": _kills,
    "raylets": _raylets,
}
"""One line adds a part."""


def report(parts: Sequence[str] = (), *, quick: bool = False) -> Iterator[str]:
    """Yields the lines of the report while it measures.

    Args:
        parts: of the report; empty is all.
        quick: whether to do little of each, which shows that all of it works and not what it costs.
    """
    for part in parts:
        if part not in PARTS:
            raise UsageError(f"no part '{part}' of scale{nearest(part, PARTS)}; there is {', '.join(PARTS)}")
    for part in parts or PARTS:
        yield f"{part}:"
        yield from PARTS[part](quick=quick)
