"""Dataclasses to plain JSON data and back."""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import TypeAdapter

T = TypeVar("T")


_adapters: dict[Any, TypeAdapter[Any]] = {}


def _adapter(cls: Any) -> TypeAdapter[Any]:
    if cls not in _adapters:
        _adapters[cls] = TypeAdapter(cls)
    return _adapters[cls]


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
