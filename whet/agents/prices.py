"""What models cost: the listed prices, and the project's own."""

from __future__ import annotations

import datetime
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files

from pydantic import TypeAdapter

from whet.agents.models.base import Model, Usage
from whet.agents.models.in_turn import parts
from whet.core.config import ModelPrice

MILLION = 1_000_000
# What writing to the cache costs, in input prices.
CACHE_WRITE = 1.25


STATED = "[tool.whet.prices]"
"""The source of a price that the project states."""


class ListedPrice(ModelPrice):
    """An entry of ``prices.toml``: a price, where it was read, and when."""

    date: datetime.date
    source: str


@dataclass(frozen=True, slots=True)
class Price:
    """What one model costs, in USD a million tokens.

    Attributes:
        input: read afresh.
        output: written.
        cached: read from the provider's cache; None where that costs as much as ``input``.
        source: the page that it was read on, or `STATED`.
        date: of that reading, as ISO 8601; None where the project states it.
    """

    input: float
    output: float
    cached: float | None = None
    source: str = STATED
    date: str | None = None

    def usd(self, usage: Usage) -> float:
        """Returns what a usage costs in US dollars."""
        cached = self.input if self.cached is None else self.cached
        fresh = usage.input + CACHE_WRITE * usage.cache_write
        return (self.input * fresh + cached * usage.cache_read + self.output * usage.output) / MILLION


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices by the model's name, as it is written after ``--model``."""

    table: Mapping[str, Price]

    def usd(self, model: str, usage: Usage) -> float | None:
        """Returns what a usage costs in US dollars; None where the model's price is unknown."""
        price = self.table.get(model)
        return None if price is None else price.usd(usage)

    def of(self, models: Iterable[Model]) -> dict[str, Price]:
        """Returns the known prices of some models, and of those that they ask in turn."""
        names = [part.name for model in models for part in parts(model) if not part.free]
        return {name: self.table[name] for name in names if name in self.table}


def load_prices(stated: Mapping[str, ModelPrice]) -> Prices:
    """Returns the listed prices, overridden by those that the project states."""
    data = tomllib.loads(files("whet.agents").joinpath("prices.toml").read_text(encoding="utf-8"))
    listed = TypeAdapter(dict[str, ListedPrice]).validate_python(data)
    return Prices(
        {
            **{
                name: Price(one.input, one.output, one.cached, one.source, one.date.isoformat())
                for name, one in listed.items()
            },
            **{name: Price(one.input, one.output, one.cached) for name, one in stated.items()},
        }
    )
