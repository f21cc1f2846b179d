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
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from whet.agents.budget import BudgetMeter, Spending
from whet.agents.calls import Calls, CallState, key_of
from whet.agents.gates import Abandoned
from whet.agents.limits import ProviderGates
from whet.agents.models.base import Model, ModelError, Reply, Request, Usage, is_counted
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
        limits: how many calls a provider gets at once and a minute.
        retry: when a failed call is tried again.
        sleep: waits between attempts; by default only until the ledger is closed.
    """

    def __init__(
        self,
        store: Store,
        run: str,
        budget: BudgetMeter,
        limits: ProviderGates | None = None,
        *,
        retry: Retry = RETRY,
        sleep: Callable[[float], object] | None = None,
    ) -> None:
        self._calls = Calls(store, run)
        self._budget = budget
        self._limits = limits or ProviderGates()
        self._retry = retry
        self._closed = threading.Event()
        self._sleep = sleep or self._closed.wait
        self._recording = threading.Lock()
        self._fatal: dict[str, ModelError] = {}
        self._guard = threading.Lock()
        self._turns: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
        self._calls.orphan()
        for call in self._calls.all():
            if call.counts or (is_counted(call.model, call.free) and call.state is not CallState.ERROR):
                budget.charge(Spending(call.usd or 0.0, call.usage.total, 1))

    def ask(self, model: Model, request: Request) -> Reply:
        """Returns the recorded reply to a request, or has the model answer it.

        Raises:
            ModelError: the model failed, and another attempt makes no sense.
            BudgetError: a cap does not allow the call.
            Abandoned: the ledger was closed meanwhile.
        """
        if isinstance(model, InTurn):
            return model.ask(request, self.ask)
        key = key_of(model.name, request)
        with self._turn(key):
            with self._open():
                recorded = self._calls.reply(bytes.fromhex(key))
            return self._answer(model, request) if recorded is None else recorded

    def slots(self, model: Model) -> int:
        """Returns how many questions to a model make sense at once."""
        return self._limits.slots(model)

    def close(self) -> None:
        """Ends the recording: what calls still under way come to is worth nothing. They stay intents."""
        with self._recording:
            self._closed.set()
        self._limits.close()

    def abandon(self) -> None:
        """Closes the ledger for good: calls still under way become unknown, and count at their worst case."""
        self.close()
        self._calls.orphan()

    def cost(self) -> Cost:
        """Returns what the run's calls cost so far; unknown ones at their worst case."""
        return self._calls.cost()

    @property
    def answered(self) -> bool:
        """Whether any reply of the run is recorded."""
        return self._calls.answered

    @property
    def spent(self) -> Spending:
        """What the calls that are over came to, those of earlier processes included."""
        return self._budget.spent

    def transcript(self) -> list[dict[str, Any]]:
        """Returns every call with its prompt, reply and cost, in order, as plain JSON data."""
        return self._calls.transcript()

    def _turn(self, key: str) -> threading.Lock:
        """One thread at a time asks one question; the next finds the reply."""
        with self._guard:
            return self._turns[key]

    @contextmanager
    def _open(self) -> Iterator[None]:
        """Reads or writes the record; nobody closes the ledger meanwhile."""
        with self._recording:
            if self._closed.is_set():
                raise Abandoned
            yield

    def _answer(self, model: Model, request: Request) -> Reply:
        """Attempts, until one succeeds or no further one makes sense."""
        worst = Usage() if model.free else worst_case(request)
        gate = self._limits.gate(model)
        began = time.monotonic()
        for attempt in itertools.count(1):
            call = partial(self._complete, model, request, attempt, began)
            try:
                with gate.passage(worst.total) as passage:
                    reply = self._attempt(model, request, worst, call)
                    passage.tokens = reply.usage.total
                    return reply
            except ModelError as error:
                delay = self._retry.delay(attempt, error)
                if delay is None or delay >= self._budget.seconds_left:
                    raise
                # What the provider asks of one call holds for all.
                gate.pause(error.retry_after or 0.0)
                self._sleep(delay)
        raise AssertionError("the loop above only ends by returning or raising")

    def _attempt(self, model: Model, request: Request, worst: Usage, call: Callable[[], Reply]) -> Reply:
        """Reservation, intent, call, outcome; the reservation is settled whatever happens in between."""
        counted = is_counted(model.name, model.free)
        reserved = self._budget.reserve(model.name, worst, model.free) if counted else None
        used: Usage | None = worst
        try:
            with self._open():
                row = self._calls.intend(model, request, worst, self._usd(model, worst))
            started = time.monotonic()
            try:
                reply = call()
            except ModelError as error:
                used = worst if error.billed else None
                cost = used or Usage()
                with self._open():
                    self._calls.fail(row, error, cost, self._usd(model, cost), time.monotonic() - started)
                raise
            used = reply.usage
            with self._open():
                self._calls.finish(row, reply, self._usd(model, used), time.monotonic() - started)
            return reply
        finally:
            if reserved is not None:
                self._budget.settle(reserved, model.name, used)

    def _complete(self, model: Model, request: Request, attempt: int, began: float) -> Reply:
        """The call itself, unless an earlier one has shown that none can succeed."""
        if known := self._fatal.get(model.name):
            raise ModelError(str(known), fatal=True)
        try:
            return model.complete(request)
        except ModelError as error:
            if self._retry.unreachable(attempt, error, time.monotonic() - began):
                error.fatal, error.retry_after = True, None
            # Samples of a replay fail each by itself, as they did in the run.
            if error.fatal and not model.free:
                self._fatal[model.name] = error
            raise

    def _usd(self, model: Model, usage: Usage) -> float | None:
        return 0.0 if model.free else self._budget.prices.usd(model.name, usage)
