"""What a candidate may take of a metric at most, whatever it gains in the one that is to be improved."""

from __future__ import annotations

import re
from dataclasses import dataclass

from whet.core.errors import UsageError
from whet.core.text import parse_bytes

TIMES = re.compile(r"(\d+(?:\.\d+)?)x")


@dataclass(frozen=True, slots=True)
class Constraint:
    """A limit on one metric.

    Attributes:
        option: as the user wrote it, such as ``--max-memory 1.1x``.
        metric: what is limited.
        most: times the baseline's own; where ``absolute``, bytes.
        absolute: whether the limit is an amount by itself.
    """

    option: str
    metric: str
    most: float
    absolute: bool = False


def read_constraint(metric: str, text: str) -> Constraint:
    """Returns the limit that ``--max-METRIC`` was given.

    Raises:
        UsageError: it is none.
    """
    option = f"--max-{metric} {text}"
    if (match := TIMES.fullmatch(text)) and float(match[1]) > 0:
        return Constraint(option, metric, float(match[1]))
    if metric == "memory":
        try:
            return Constraint(option, metric, float(parse_bytes(text)), absolute=True)
        except ValueError:
            raise UsageError(f"{option}: write for instance 1.1x, of what the original takes, or 512MiB") from None
    raise UsageError(f"{option}: write for instance 1.05x, of what the original takes")
