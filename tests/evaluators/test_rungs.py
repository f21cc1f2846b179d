"""What a timed rung says of its measurement."""

from __future__ import annotations

from dataclasses import replace

from scripted_turns import decide

from whet.evaluators.rungs import conclusion, measured
from whet.evaluators.timing.decision import least


def test_a_rung_begins_with_what_its_measurement_comes_to() -> None:
    one, other = decide({"a": 2.0}), decide({"a": 1.5})
    assert measured("confirm", one, 1.0).detail == one.note
    several = least([replace(one, speedup=replace(one.speedup, baseline="plain")), other])
    assert conclusion(several) == f"against {other.speedup.baseline}: {other.note}"
    # Evidence is checked against this: a third party derives the measurement from its samples.
    assert measured("confirm", several, 1.0).detail.startswith(conclusion(several))
