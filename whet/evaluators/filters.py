"""Cheap filters before dear rungs: what a text shows decides what is measured first, and nothing else.

A filter is a group of hints, which the screen has recorded for each candidate. One that flags a right candidate only
postpones it: should the time run out, the others have been measured.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from whet.core.task import Kind
from whet.core.verdict import Verdict
from whet.evaluators.hints.base import MEANINGS

STATE = frozenset({"attribute_state", "default_argument_state", "memoised", "module_state"})
"""What outlives a call, and so is nothing in a program, of which each input has a process of its own."""
LABELLED = frozenset({"import_work", "inline_assembly", "literal_table", "optimisation_pragma", "thread_start"})
"""Fair ways to be faster, which earn a label or are paid for in the figures; no filter flags them."""
_COMPILE = frozenset({"unknown_name"})
_MEMORY = STATE | {"argument_change", "memory_access", "uninitialised_memory"}
_NUMERICS = frozenset({"backend_flag", "fast_math", "lower_precision"})
FILTERS: Mapping[str, frozenset[str]] = {
    "compile": _COMPILE,
    "memory": _MEMORY,
    "numerics": _NUMERICS,
    "tricks": frozenset(MEANINGS) - _COMPILE - _MEMORY - _NUMERICS - LABELLED,
}
"""By name, the hints by which a filter flags a text."""


def flagging(hints: Iterable[str], kind: Kind) -> tuple[str, ...]:
    """Returns the filters that flag a text of which some hints are known.

    Args:
        hints: their names.
        kind: of the text's task.
    """
    known = frozenset(hints) - (STATE if kind is Kind.PROGRAM else frozenset())
    return tuple(name for name, group in FILTERS.items() if known & group)


def doubts(verdict: Verdict, kind: Kind) -> int:
    """Returns how many filters flag a candidate, by the hints of its screen."""
    screened = verdict.rung("screen")
    hints = screened.evidence.get("hints", ()) if screened is not None else ()
    return len(flagging((hint["name"] for hint in hints), kind))
