"""The Judge's answer, as its schema has it."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class Diagnosis(BaseModel):
    """What the Judge makes of a round.

    Attributes:
        bottleneck: what takes the time in the best version.
        evidence: figures that show it, each cited by its name.
        directive: what the Coder shall change next.
        expected_gain: speedup of the best rewrite over the version that it is made from, if it works.
        confidence: the chance, 0 to 1, that there is a gain beyond the resolution.
        stop: whether nothing worth trying is left.
        by_rule: whether it was drawn from the verdicts alone; no answer can say so of itself.
        unknown: places in `evidence` of what names no figure that was shown; no answer can say so either.
    """

    model_config = ConfigDict(frozen=True)

    bottleneck: str = Field(max_length=2000)
    evidence: list[str] = Field(max_length=50)
    directive: str = Field(max_length=4000)
    expected_gain: float = Field(ge=1e-3, le=1e6)
    confidence: float = Field(ge=0, le=1)
    stop: bool
    by_rule: bool = False
    unknown: tuple[int, ...] = ()
