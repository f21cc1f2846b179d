"""Hands a function lists that it was given before, filled anew: what it kept by their address is wrong then.

Whether a fresh list lies where an earlier one lay is chance. A caller who fills one list again and again makes it sure.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself would cost each start 8 ms
    from typing import Any

SCALARS = frozenset({type(None), bool, int, float, complex, str, bytes})


def refilled(earlier: Any, given: Any) -> Any:
    """Returns the arguments of a call, with the lists of an earlier one in the place of equally typed ones.

    Args:
        earlier: the arguments of an earlier call; their lists are changed.
        given: the arguments, of which all are scalars or lists of scalars; any others are left as they are.
    """
    if not (_plain(earlier) and _plain(given) and len(earlier) == len(given)):
        return given
    return tuple(_filled(old, new) for old, new in zip(earlier, given))  # noqa: B905 (3.10 inside; of the same length)


def _plain(given: Any) -> bool:
    """Whether arguments are positional, and all of them scalars or lists of scalars that are objects of their own."""
    if type(given) is not tuple:
        return False
    lists = [one for one in given if type(one) not in SCALARS]
    return len({id(one) for one in lists}) == len(lists) and all(
        type(one) is list and SCALARS.issuperset(map(type, one)) for one in lists
    )


def _filled(old: Any, new: Any) -> Any:
    if type(old) is not list or type(new) is not list:
        return new
    old[:] = new
    return old
