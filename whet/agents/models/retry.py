"""The one layer that asks again; the SDKs' own are off."""

from __future__ import annotations

import random
from dataclasses import dataclass

from whet.agents.models.base import ModelError


@dataclass(frozen=True, slots=True)
class Retry:
    """When another attempt makes sense.

    Attributes:
        attempts: of one question, the first included.
        first: seconds before the second attempt; doubled each time.
        longest: seconds; a provider that asks for a longer wait is not asked again.
        reach: seconds after which a server that could not be reached is given up.
    """

    attempts: int = 4
    first: float = 1.0
    longest: float = 60.0
    reach: float = 5.0

    def delay(self, attempt: int, error: ModelError) -> float | None:
        """Returns the seconds to wait after the failure of attempt 1, 2, ...; None to give up.

        Never shorter than the provider asked for. Jittered: calls that failed together shall not meet again.
        """
        if error.retry_after is None or error.retry_after > self.longest or attempt >= self.attempts:
            return None
        backoff = min(self.longest, self.first * 2.0 ** (attempt - 1))
        return max(error.retry_after, backoff / 2) + random.uniform(0.0, backoff / 2)

    def unreachable(self, attempt: int, error: ModelError, seconds: float) -> bool:
        """Whether a server is given up, after the failure of attempt 1, 2, ... so long after the first one began."""
        return error.unreached and (attempt >= self.attempts or seconds >= self.reach)


RETRY = Retry()
"""How calls are tried again unless somebody says otherwise."""
