"""What packages of others bring to whet, by entry points: a name in a group stands for one object."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, TypeVar

from whet.core.errors import UsageError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

Brought = TypeVar("Brought")


@cache
def plugged(group: str) -> Mapping[str, EntryPoint]:
    """Returns what plug-ins bring to a group, by name, none of it loaded: a list of all packages is read for it."""
    from importlib.metadata import entry_points  # takes as long as all else that the command line needs

    return {entry.name: entry for entry in entry_points(group=group)}


def brought(group: str, name: str, kind: type[Brought]) -> Brought | None:
    """Returns what a plug-in brings under a name; None where none does.

    Raises:
        UsageError: it cannot be imported, or is of another kind.
    """
    if (entry := plugged(group).get(name)) is None:
        return None
    what = f"the plug-in {name} ({entry.value}) of {group}"
    try:
        found = entry.load()
    except Exception as error:  # whatever a plug-in does while it is imported
        raise UsageError(f"{what} cannot be used: {error!r}") from error
    if not isinstance(found, kind):
        raise UsageError(f"{what} is no {kind.__name__} but {found!r:.80}")
    return found
