"""The campaigns by name."""

from __future__ import annotations

from collections.abc import Sequence

from whet.benchmarks.self.campaigns.attacks import Attacks
from whet.benchmarks.self.campaigns.campaign import Campaign
from whet.benchmarks.self.campaigns.exploits import Exploits
from whet.benchmarks.self.campaigns.mutants import Mutants
from whet.benchmarks.self.campaigns.oracle import OracleErrors
from whet.benchmarks.self.campaigns.steady import Steady
from whet.benchmarks.self.campaigns.timing import Timing
from whet.core.errors import UsageError

SEEDED: dict[str, type[Exploits | Mutants | OracleErrors | Steady | Timing]] = {
    "exploits": Exploits,
    "mutants": Mutants,
    "oracle": OracleErrors,
    "steady": Steady,
    "timing": Timing,
}
NAMES = tuple(sorted(("attacks", *SEEDED)))


def make(name: str, ids: Sequence[str] = (), seed: int | None = None) -> Campaign:
    """Returns a campaign.

    Args:
        name: of `NAMES`.
        ids: of the items that are asked for; none for the usual ones.
        seed: of its inputs; None for its own.

    Raises:
        UsageError: there is no item of an id, or the campaign has no seed.
    """
    if name in SEEDED:
        return SEEDED[name](ids) if seed is None else SEEDED[name](ids, seed)
    if seed is not None:
        raise UsageError(f"--seed goes with the campaigns {', '.join(SEEDED)}")
    return Attacks(ids)
