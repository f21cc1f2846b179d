"""What models cost: the listed prices, and the project's own."""

from __future__ import annotations

import datetime
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files

from pydantic import TypeAdapter

from whet.agents.models.base import Usage
from whet.core.config import ModelPrice

MILLION = 1_000_000
# What writing to the cache costs, in input prices.
CACHE_WRITE = 1.25


class ListedPrice(ModelPrice):
    """An entry of ``prices.toml``: a price, where it was read, and when."""

    date: datetime.date
    source: str


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices by the model's name, as it is written after ``--model``."""

    table: Mapping[str, ModelPrice]

    def usd(self, model: str, usage: Usage) -> float | None:
        """Returns what a usage costs in US dollars; None where the model's price is unknown."""
        if (price := self.table.get(model)) is None:
            return None
        cached = price.input if price.cached is None else price.cached
        fresh = usage.input + CACHE_WRITE * usage.cache_write
        return (price.input * fresh + cached * usage.cache_read + price.output * usage.output) / MILLION


def load_prices(stated: Mapping[str, ModelPrice]) -> Prices:
    """Returns the listed prices, overridden by those that the project states."""
    listed = tomllib.loads(files("whet.agents").joinpath("prices.toml").read_text(encoding="utf-8"))
    return Prices({**TypeAdapter(dict[str, ListedPrice]).validate_python(listed), **stated})
