"""From what stands after ``--model`` to a model. One line in `PROVIDERS` adds a provider."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from whet.agents.models.base import Model
from whet.agents.models.in_turn import InTurn
from whet.agents.prices import load_prices
from whet.core.config import ProjectConfig
from whet.core.errors import UsageError, nearest

Replay = Callable[[str], Model]


@dataclass(frozen=True, slots=True)
class Provider:
    """How a provider's models are written, and how one is opened from what follows the colon."""

    form: str
    open: Callable[[str, Replay | None], Model]


def open_model(spec: str, *, config: ProjectConfig, replay: Replay | None = None) -> Model:
    """Returns the model that a spec names; several, separated by commas, are asked in turn.

    Args:
        spec: as written after ``--model``.
        config: the project's, for the models that it knows.
        replay: opens ``replay:RUN``.

    Raises:
        UsageError: the spec names no model, or its key is missing.
    """
    models = [_open_one(part.strip(), config, replay) for part in spec.split(",")]
    return models[0] if len(models) == 1 else InTurn(models)


def _open_one(spec: str, config: ProjectConfig, replay: Replay | None) -> Model:
    word, _, rest = spec.partition(":")
    provider = PROVIDERS.get(word)
    if provider is None:
        known = {*PROVIDERS, *load_prices(config.prices).table}
        forms = ", ".join(provider.form for provider in PROVIDERS.values())
        raise UsageError(f"unknown model '{spec}'{nearest(spec, known)}; known forms: {forms}")
    if bool(rest) != (":" in provider.form):
        raise UsageError(f"malformed model '{spec}'; the form is {provider.form}")
    return provider.open(rest, replay)


def _catalogue(rest: str, replay: Replay | None) -> Model:
    from whet.agents.models.catalogue import CatalogueModel

    return CatalogueModel()


def _anthropic(rest: str, replay: Replay | None) -> Model:
    from whet.agents.models.anthropic import AnthropicModel

    return AnthropicModel(rest, _key("ANTHROPIC_API_KEY", f"anthropic:{rest}"))


def _openai(rest: str, replay: Replay | None) -> Model:
    from whet.agents.models.openai import OpenAIModel

    name, at, base_url = rest.partition("@http")
    if not at and "@" in rest.lstrip("@"):
        raise UsageError(f"malformed model 'openai:{rest}'; BASE_URL begins with http:// or https://")
    if not at:
        return OpenAIModel(rest, _key("OPENAI_API_KEY", f"openai:{rest}"))
    base_url = f"http{base_url}"
    try:
        url = urlsplit(base_url)
        usable = bool(name and url.hostname) and url.scheme in ("http", "https") and url.port != 0
        usable = usable and base_url.isprintable() and " " not in base_url
    except ValueError:
        usable = False
    if not usable:
        raise UsageError(f"malformed model 'openai:{rest}'; the form is openai:NAME@BASE_URL")
    if url.username or url.password or url.query:
        raise UsageError("a BASE_URL with credentials would be recorded with each call; set OPENAI_API_KEY instead")
    return OpenAIModel(name, _key("OPENAI_API_KEY", f"openai:{rest}", optional=True), base_url)


def _manual(rest: str, replay: Replay | None) -> Model:
    from whet.agents.models.manual import ManualModel

    return ManualModel(Path(rest).expanduser())


def _replay(rest: str, replay: Replay | None) -> Model:
    if replay is None:
        raise UsageError(f"'replay:{rest}' cannot be used here: nothing is recorded")
    return replay(rest)


def _key(variable: str, model: str, *, optional: bool = False) -> str:
    key = os.environ.get(variable, "").strip()
    if not key and optional:
        return ""
    if not key:
        raise UsageError(f"{model} needs a key: set {variable}")
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise UsageError(f"{variable} holds characters that no key has; set it anew")
    return key


PROVIDERS: Mapping[str, Provider] = {
    "catalogue": Provider("catalogue", _catalogue),
    "anthropic": Provider("anthropic:NAME", _anthropic),
    "openai": Provider("openai:NAME[@BASE_URL]", _openai),
    "manual": Provider("manual:DIR", _manual),
    "replay": Provider("replay:RUN", _replay),
}
"""What may stand before the colon."""
