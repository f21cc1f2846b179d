"""How strong an oracle is: the document of `audit`, schema ``whet.audit/1``."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from whet.core.errors import Exit
from whet.core.plain import to_plain
from whet.core.result import TaskName
from whet.core.verdict import Reason

SCHEMA = "whet.audit/1"


@dataclass(frozen=True, slots=True)
class NullOutcome:
    """What became of one candidate that does no work.

    Attributes:
        name: which one.
        agreed: inputs on which the oracle would take its outcome for the baseline's.
        inputs: inputs that it was judged on; 0 where none of them applies to it.
    """

    name: str
    agreed: int
    inputs: int

    @property
    def accepted(self) -> bool:
        """Whether the oracle would accept it."""
        return self.inputs > 0 and self.agreed == self.inputs

    @property
    def status(self) -> str:
        """``accepted``, ``rejected`` or ``not_applicable``."""
        if self.inputs == 0:
            return "not_applicable"
        return "accepted" if self.accepted else "rejected"


@dataclass(frozen=True, slots=True)
class MutantOutcome:
    """What became of one mutant.

    Attributes:
        id: the same for the same text.
        operator: what kind of fault it has.
        line: of the target's file.
        diff: against the target.
        killed_by: the rung that it fell from; None for a survivor.
        reason: why it fell.
        usual: whether the usual protocol finds it too; None where it never ran.
    """

    id: str
    operator: str
    line: int
    diff: str
    killed_by: str | None
    reason: Reason | None
    usual: bool | None

    @property
    def stillborn(self) -> bool:
        """Whether it does not even load or compile, so that it says nothing of the oracle."""
        return self.killed_by in ("screen", "build")


@dataclass(frozen=True, slots=True)
class Rate:
    """How often something happened, with the exact (Clopper-Pearson) 95 % bounds of a binomial."""

    hits: int
    trials: int

    @property
    def share(self) -> float:
        """Hits over trials; 0 where there were none."""
        return self.hits / self.trials if self.trials else 0.0

    @property
    def bounds(self) -> tuple[float, float]:
        """The two-sided exact interval at 95 %."""
        from scipy.stats import binomtest

        if not self.trials:
            return 0.0, 1.0
        found = binomtest(self.hits, self.trials).proportion_ci(0.95, "exact")
        return float(found.low), float(found.high)

    def __str__(self) -> str:
        low, high = self.bounds
        return f"{self.share * 100:.1f} % ({low * 100:.1f} to {high * 100:.1f})"


@dataclass(frozen=True, slots=True)
class Audit:
    """How strong the oracle of one task is.

    Attributes:
        task: whose oracle it is.
        seed: of inputs and mutants: the same seed draws the same again.
        nulls: candidates that do no work.
        strengthened: what was added to the inputs because a null candidate passed at first; empty where none did.
        made: mutants that the target has.
        mutants: those that were tried.
        seconds: wall time.
        suspicions: what is said against the outputs of a kernel problem: that they hardly differ, or are next to zero.
    """

    task: TaskName
    seed: int
    nulls: tuple[NullOutcome, ...]
    strengthened: str
    made: int
    mutants: tuple[MutantOutcome, ...]
    seconds: float
    suspicions: tuple[str, ...] = ()

    @property
    def ran(self) -> tuple[MutantOutcome, ...]:
        """The mutants that load or compile."""
        return tuple(mutant for mutant in self.mutants if not mutant.stillborn)

    @property
    def survivors(self) -> tuple[MutantOutcome, ...]:
        """The mutants that the oracle took for the baseline."""
        return tuple(mutant for mutant in self.mutants if mutant.killed_by is None)

    @property
    def killed(self) -> Rate:
        """How many of those that ran were found."""
        return Rate(len(self.ran) - len(self.survivors), len(self.ran))

    @property
    def usual(self) -> Rate:
        """How many of the same mutants the usual protocol finds."""
        return Rate(sum(bool(mutant.usual) for mutant in self.ran), len(self.ran))

    @property
    def by_rung(self) -> dict[str, int]:
        """How many of those that ran each rung found."""
        return dict(Counter(mutant.killed_by for mutant in self.ran if mutant.killed_by is not None))

    @property
    def accepted(self) -> tuple[str, ...]:
        """The null candidates that the oracle accepts."""
        return tuple(null.name for null in self.nulls if null.accepted)

    @property
    def exit_code(self) -> Exit:
        """The exit code of a command that ends in this audit."""
        return Exit.BASELINE if self.accepted else Exit.IMPROVED

    def to_json(self) -> dict[str, Any]:
        """Returns the document as plain JSON data."""
        return {
            "schema": SCHEMA,
            "task": to_plain(self.task),
            "seed": self.seed,
            "nulls": [{"status": null.status, **to_plain(null)} for null in self.nulls],
            "strengthened": self.strengthened,
            "suspicions": list(self.suspicions),
            "mutants": {
                "made": self.made,
                "tried": len(self.mutants),
                "stillborn": len(self.mutants) - len(self.ran),
                "killed": _rate(self.killed),
                "usual_protocol": _rate(self.usual),
                "by_rung": self.by_rung,
                "by_reason": dict(Counter(m.reason.value for m in self.ran if m.reason is not None)),
            },
            "survivors": [
                {"id": m.id, "operator": m.operator, "line": m.line, "diff": m.diff, "usual_protocol": bool(m.usual)}
                for m in self.survivors
            ],
            "seconds": round(self.seconds, 3),
        }


def _rate(rate: Rate) -> dict[str, Any]:
    low, high = rate.bounds
    return {"count": rate.hits, "of": rate.trials, "share": rate.share, "low": low, "high": high}
