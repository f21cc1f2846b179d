"""Imports modules, and has libraries set themselves up, as many do at their first call: that is nobody's work."""

from __future__ import annotations

import importlib
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself would cost each start 8 ms
    from collections.abc import Iterable


def prime(names: Iterable[str]) -> None:
    """Imports some modules, looks up names in them, and calls what is common in numpy and torch where they are loaded.

    Args:
        names: full names of modules, and of what stands in them. Many a package imports a part of it when its name is
            looked up for the first time. What there is not is passed over.
    """
    for name in names:
        try:  # noqa: SIM105 (`contextlib` would cost each start 2 ms)
            _look_up(name)
        except Exception:  # whatever importing it raises
            pass
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    if numpy is not None:
        square = numpy.eye(48)
        numpy.linalg.solve(square @ square, numpy.exp(square).cumsum(axis=0))
        numpy.fft.rfft(numpy.sort(square.sum(axis=0)))
    if torch is not None:
        square = torch.eye(48).expand(4, 48, 48)
        functional = torch.nn.functional
        functional.linear(square @ square, square[0])
        functional.conv1d(square, torch.ones(8, 48, 3))
        functional.conv2d(square.unsqueeze(1), torch.ones(2, 1, 3, 3))
        torch.softmax(square, dim=-1).exp().cumsum(dim=0).sort()
        functional.layer_norm(square, (48,)).relu().sum()


def _look_up(name: str) -> None:
    first, *others = name.split(".")
    path, found = first, importlib.import_module(first)
    for part in others:
        path += f".{part}"
        try:
            found = importlib.import_module(path)
        except ImportError:
            found = getattr(found, part)
