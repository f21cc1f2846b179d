"""Caps on a run, that bind before a call is made."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from whet.agents.models.base import Model, Usage
from whet.agents.models.in_turn import parts
from whet.agents.prices import Prices
from whet.core.errors import BudgetError, UsageError
from whet.core.options import Budget

DEFAULT_USD = 1.0
"""US dollars that a run with paid models, or a call of the MCP server, may spend where no cap is given. A larger value
risks more money that nobody agreed to; a smaller one ends long searches early."""
DEFAULT_TOKENS = 500_000
"""Tokens, input and output together, of such a run where the price of a model is unknown; a larger or a smaller value
does the same as with `DEFAULT_USD`."""


def default_budget(budget: Budget, models: Iterable[Model], prices: Prices) -> Budget:
    """Returns the budget with the default cap, where paid models would run without any on what they use.

    Raises:
        UsageError: money is capped, and a model's price is unknown.
    """
    paid = [part for model in models for part in parts(model) if not part.free]
    unknown = [model.name for model in paid if model.name not in prices.table]
    if unknown and budget.usd is not None:
        raise UsageError(_unpriced(unknown[0]))
    if not paid or (budget.usd, budget.tokens, budget.calls) != (None, None, None):
        return budget
    return replace(budget, tokens=DEFAULT_TOKENS) if unknown else replace(budget, usd=DEFAULT_USD)


def _unpriced(model: str) -> str:
    return (
        f"--budget-usd cannot bind: the price of {model} is unknown; use --budget-tokens, or state the price "
        f'under [tool.whet.prices."{model}"] as input and output in USD per million tokens'
    )


@dataclass(frozen=True, slots=True)
class Spending:
    """An amount of all that is capped by call."""

    usd: float = 0.0
    tokens: int = 0
    calls: int = 0

    def __add__(self, other: Spending) -> Spending:
        return Spending(self.usd + other.usd, self.tokens + other.tokens, self.calls + other.calls)


class BudgetMeter:
    """What a run has spent, and what it may. Safe for several threads.

    Args:
        budget: the caps.
        prices: of the models.
        clock: seconds, from any zero; the time begins to run now.
    """

    def __init__(self, budget: Budget, prices: Prices, clock: Callable[[], float] = time.monotonic) -> None:
        self.budget = budget
        self.prices = prices
        self._clock = clock
        self._start = clock()
        self._spent = Spending()
        self._reserved: list[Spending] = []
        self._changed = threading.Condition()

    @property
    def spent(self) -> Spending:
        """What finished calls came to."""
        with self._changed:
            return self._spent

    def reserve(self, model: str, worst: Usage, free: bool = False) -> Spending:
        """Sets the worst case of a call aside, waiting for running calls where it may then fit.

        Args:
            model: its name.
            worst: the most that it may use.
            free: whether that costs no money.

        Returns:
            the reservation, to be settled whatever becomes of the call.

        Raises:
            BudgetError: a cap does not allow the call.
            UsageError: money is capped, and the model's price is unknown.
        """
        usd = 0.0 if free else self.prices.usd(model, worst)
        if usd is None and self.budget.usd is not None:
            raise UsageError(_unpriced(model))
        asked = Spending(usd or 0.0, worst.total, 1)
        with self._changed:
            while True:
                if self.out_of_time():
                    raise BudgetError("--budget-seconds is spent")
                if lack := self._lack(self._spent, asked):
                    raise BudgetError(lack)
                if self._lack(sum(self._reserved, self._spent), asked) is None:
                    self._reserved.append(asked)
                    return asked
                # Running calls mostly come to less than they reserved.
                self._changed.wait(min(1.0, self.seconds_left))

    def settle(self, reservation: Spending, model: str, usage: Usage | None) -> None:
        """Replaces a reservation by what the call came to; None where it was turned away unread."""
        came_to = Spending()
        if usage is not None:
            came_to = Spending(self.prices.usd(model, usage) or 0.0, usage.total, 1)
        with self._changed:
            self._reserved.remove(reservation)
            self._spent += came_to
            self._changed.notify_all()

    def charge(self, spending: Spending) -> None:
        """Adds what an earlier process of this run spent."""
        with self._changed:
            self._spent += spending

    @property
    def share(self) -> float:
        """What is spent of the cap on money, or of that on tokens where money has none; 0 where neither is capped."""
        spent = self.spent
        for cap, used in ((self.budget.usd, spent.usd), (self.budget.tokens, spent.tokens)):
            if cap:
                return used / cap
        return 0.0

    @property
    def seconds_left(self) -> float:
        """Seconds until the time is up; infinite without a cap."""
        if self.budget.seconds is None:
            return math.inf
        return max(0.0, self.budget.seconds - (self._clock() - self._start))

    def out_of_time(self) -> bool:
        """Whether the time is up."""
        return self.seconds_left <= 0.0

    def _lack(self, spent: Spending, asked: Spending) -> str | None:
        """Why a call does not fit beside what is spent; None where it does."""
        for option, cap, used, more in (
            ("--budget-calls", self.budget.calls, spent.calls, asked.calls),
            ("--budget-tokens", self.budget.tokens, spent.tokens, asked.tokens),
            ("--budget-usd", self.budget.usd, spent.usd, asked.usd),
        ):
            if cap is not None and used + more > cap:
                figures = f"{round(used, 4)} spent, and it may take {round(more, 4)}"
                return f"{option} {cap} does not cover the next call: {figures}"
        return None
