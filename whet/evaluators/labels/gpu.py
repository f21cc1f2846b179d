"""Labels of a kernel's change by whose kernels the GPU's time goes to, as a profile of the answer shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from whet.core.label import Label
from whet.evaluators.labels.base import Derived

DECOY = 0.1
"""Of the GPU's time: where all that is not known to be a library's takes less, an answer's own kernels are a show."""
MOSTLY = 0.5
"""Share of the GPU's time from which kernels of libraries make a change a library call: they then take as much as all
others together. A smaller share gives that label to changes whose own kernels take more."""


def by_kernels(derived: tuple[Derived, ...], kernels: Mapping[str, Any] | None) -> tuple[Derived, ...]:
    """Returns labels as the GPU's time bears them out.

    Args:
        derived: labels from the text.
        kernels: see `whet.evaluators.kernels.kernel_kinds.shares`; None where nothing is known.
    """
    if kernels is None:
        return derived
    part: Mapping[str, float] = kernels["shares"]
    kept = [one for one in derived if one.label is not Label.CUSTOM_KERNEL]
    if part["library"] >= MOSTLY:
        kept = [one for one in kept if one.label is not Label.LIBRARY_CALL]
        why = f"kernels of libraries take {part['library']:.0%} of the GPU's time"
        kept.append(Derived(Label.LIBRARY_CALL, why, share=part["library"]))
    if kernels["defines"]:
        names = ", ".join(kernels["defines"][:4])
        decoy = part["own"] + part["other"] < DECOY
        why = f"its own kernels ({names}) take {part['own']:.0%} of the GPU's time"
        kept.insert(0, Derived(Label.DECOY_KERNEL if decoy else Label.CUSTOM_KERNEL, why, share=part["own"]))
    return tuple(kept)
