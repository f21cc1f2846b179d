"""Several models, asked one after another."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from whet.agents.models.base import Model, ModelError, Reply, Request


class InTurn:
    """Asks each model until one has something to say; the free ones first."""

    def __init__(self, models: Sequence[Model]) -> None:
        self.models = tuple(sorted(models, key=lambda model: not model.free))
        self.name = ",".join(model.name for model in self.models)
        self.free = all(model.free for model in self.models)

    def complete(self, request: Request) -> Reply:
        """Answers one request.

        Raises:
            ModelError: a model failed, and no later one made up for it.
        """
        return self.ask(request, lambda model, asked: model.complete(asked))

    def ask(self, request: Request, ask: Callable[[Model, Request], Reply]) -> Reply:
        """Returns the first reply with any text, asking through ``ask``; else the last blank one.

        A later model is asked only where an earlier one has nothing to propose or can answer no more.

        Raises:
            ModelError: as ``ask`` raised it.
        """
        failure: ModelError | None = None
        blank: Reply | None = None
        for model in self.models:
            try:
                reply = ask(model, request)
            except ModelError as error:
                if not error.fatal:
                    raise
                failure = error
                continue
            if reply.text.strip():
                return reply
            blank = reply
        if failure is not None:
            raise failure
        assert blank is not None, "there is at least one model"
        return blank


def parts(model: Model) -> tuple[Model, ...]:
    """Returns the models that a model asks in turn, or itself."""
    return model.models if isinstance(model, InTurn) else (model,)
