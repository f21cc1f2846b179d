"""Every model call of a run goes through here: nothing recorded is asked again, nothing is spent unreserved.

The promise and its limit: a reply that was recorded is never paid for twice. A call that was under way when
the process died may have been charged, and its reply is gone; it shows as ``unknown``, counts at its worst
case, and is asked again.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from whet.agents.budget import BudgetMeter, Spending
from whet.agents.calls import Calls, key_of
from whet.agents.models.base import Model, ModelError, Reply, Request, Usage
from whet.agents.models.in_turn import InTurn
from whet.agents.models.retry import RETRY, Retry
from whet.agents.models.tokens import worst_case
from whet.core.result import Cost
from whet.core.store import Store


class Ledger:
    """Asks models on behalf of one run. Safe for several threads; one process of a run may hold one.

    Opening it takes the run over: calls that an earlier process left unfinished become ``unknown``, and all
    that earlier processes spent is charged to the budget.

    Args:
        store: where the calls are recorded.
        run: the run's id.
        budget: what the calls may cost.
        retry: when a failed call is tried again.
        sleep: waits between attempts.
    """

    def __init__(
        self,
        store: Store,
        run: str,
        budget: BudgetMeter,
        *,
        retry: Retry = RETRY,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._calls = Calls(store, run)
        self._budget = budget
        self._retry = retry
        self._sleep = sleep
        self._guard = threading.Lock()
        self._turns: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
        self._calls.orphan()
        for call in self._calls.all():
            if call.counts:
                budget.charge(Spending(call.usd or 0.0, call.usage.total, 1))

    def ask(self, model: Model, request: Request) -> Reply:
        """Returns the recorded reply to a request, or has the model answer it.

        Raises:
            ModelError: the model failed, and another attempt makes no sense.
            BudgetError: a cap does not allow the call.
        """
        if isinstance(model, InTurn):
            return model.ask(request, self.ask)
        with self._turn(key_of(model.name, request)):
            if (recorded := self._calls.reply(model.name, request)) is not None:
                return recorded
            for attempt in itertools.count(1):
                try:
                    return self._attempt(model, request)
                except ModelError as error:
                    delay = self._retry.delay(attempt, error)
                    if delay is None or delay >= self._budget.seconds_left:
                        raise
                    self._sleep(delay)
        raise AssertionError("the loop above only ends by returning or raising")

    def cost(self) -> Cost:
        """Returns what the run's calls cost so far; unknown ones at their worst case."""
        return self._calls.cost()

    def transcript(self) -> list[dict[str, Any]]:
        """Returns every call with its prompt, reply and cost, in order, as plain JSON data."""
        return self._calls.transcript()

    def _turn(self, key: str) -> threading.Lock:
        """One thread at a time asks one question; the next finds the reply."""
        with self._guard:
            return self._turns[key]

    def _attempt(self, model: Model, request: Request) -> Reply:
        """Reservation, intent, call, outcome; the reservation is settled whatever happens in between."""
        worst = Usage() if model.free else worst_case(request)
        reserved = None if model.free else self._budget.reserve(model.name, worst)
        used: Usage | None = worst
        try:
            row = self._calls.intend(model, request, worst, self._usd(model, worst))
            started = time.monotonic()
            try:
                reply = model.complete(request)
            except ModelError as error:
                used = worst if error.billed else None
                cost = used or Usage()
                self._calls.fail(row, error, cost, self._usd(model, cost), time.monotonic() - started)
                raise
            used = reply.usage
            self._calls.finish(row, reply, self._usd(model, used), time.monotonic() - started)
            return reply
        finally:
            if reserved is not None:
                self._budget.settle(reserved, model.name, used)

    def _usd(self, model: Model, usage: Usage) -> float | None:
        return 0.0 if model.free else self._budget.prices.usd(model.name, usage)
