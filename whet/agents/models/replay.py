"""A past run's replies, instead of a model."""

from __future__ import annotations

from whet.agents.calls import Calls, CallState, question_of
from whet.agents.models.base import ModelError, Reply, Request
from whet.core.store import Store


class ReplayModel:
    """Answers from the ledger of a run, whichever models that run asked.

    Args:
        store: holds the run.
        run: its id.

    Attributes:
        run: the same.

    Raises:
        UsageError: there is no such run.
    """

    free = True

    def __init__(self, store: Store, run: str) -> None:
        store.run(run)
        self.name = f"replay:{run}"
        self.run = run
        self._calls = Calls(store, run)

    def complete(self, request: Request) -> Reply:
        """Returns what the run got for this prompt, be it a reply or a failure.

        Raises:
            ModelError: the run's calls failed, or it never asked this.
        """
        calls = self._calls.asked(question_of(request))
        replies = [call.reply for call in calls if call.state is CallState.DONE and call.reply]
        answered = {call.model for call in calls if call.state is CallState.DONE}
        failures = [call for call in calls if call.state is CallState.ERROR and call.model not in answered]
        # As `InTurn` has it: text, else a fatal failure, else a blank reply, else any failure.
        if said := next((reply for reply in replies if reply.text.strip()), None):
            return said
        if fatal := next((call for call in failures if call.fatal), None):
            raise ModelError(fatal.error or "", fatal=True)
        if replies:
            return replies[-1]
        if failures:
            raise ModelError(failures[-1].error or "")
        raise ModelError(f"replay: run {self.run} holds no reply to this prompt", fatal=True)
