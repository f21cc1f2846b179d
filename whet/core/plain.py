"""Dataclasses to plain JSON data and back."""

from __future__ import annotations

from functools import cache
from typing import Any, TypeVar

from pydantic import TypeAdapter

T = TypeVar("T")


@cache
def _adapter(cls: type) -> TypeAdapter[Any]:
    return TypeAdapter(cls)


def to_plain(value: Any) -> Any:
    """Returns a dataclass as plain JSON data."""
    return _adapter(type(value)).dump_python(value, mode="json")


def from_plain(cls: type[T], data: Any) -> T:
    """Returns the dataclass that `to_plain` was given.

    Raises:
        pydantic.ValidationError: the data has another form.
    """
    value: T = _adapter(cls).validate_python(data)
    return value
