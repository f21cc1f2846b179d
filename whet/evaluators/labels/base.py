"""What a label is derived from, and what two texts are compared by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from whet.core.label import Label
from whet.core.profile import Profile

Lines = dict[str, set[int]]
"""Names with the lines that they stand in."""


@dataclass(frozen=True, slots=True)
class Derived:
    """A label with its reason.

    Attributes:
        label: what kind of change it is.
        why: what in the change shows it.
        lines: of the candidate that do the work, where the label is about some.
        share: of the winner's time that these lines take, 0 to 1; None where it was not measured.
    """

    label: Label
    why: str
    lines: frozenset[int] = frozenset()
    share: float | None = None

    def measured(self, profile: Profile) -> Derived:
        """Adds the share of time that a profile of the candidate shows."""
        if not self.lines or not profile.lines:
            return self
        share = sum(line.share for line in profile.lines if line.line in self.lines)
        return Derived(self.label, self.why, self.lines, round(min(1.0, share), 3))


@dataclass(slots=True)
class Features:
    """What one side of a change does, in the parts that differ.

    Attributes:
        loops: how many there are, comprehensions and whole-sequence calls among them.
        statements: how many of them are statements.
        depth: how deep they nest.
        ranges: bounds of counting loops, without names.
        conditions: of open loops, without names.
        leaves: ways out of the midst of a loop.
        recursive: functions that call themselves.
        appended: texts that grow in a loop.
        structures: kinds of containers.
        vectors: operations on whole arrays.
        libraries: calls into libraries that do the work.
        helpers: calls of the standard library that stand for a loop.
        kernels: code compiled apart for this.
        flags: switches of a compiler.
        precision: smaller types of floats.
        caches: results kept within the call.
    """

    loops: int = 0
    statements: int = 0
    depth: int = 0
    ranges: Counter[str] = field(default_factory=Counter)
    conditions: Counter[str] = field(default_factory=Counter)
    leaves: int = 0
    recursive: set[str] = field(default_factory=set)
    appended: int = 0
    structures: Lines = field(default_factory=dict)
    vectors: Lines = field(default_factory=dict)
    libraries: Lines = field(default_factory=dict)
    helpers: Lines = field(default_factory=dict)
    kernels: Lines = field(default_factory=dict)
    flags: Lines = field(default_factory=dict)
    precision: Lines = field(default_factory=dict)
    caches: Lines = field(default_factory=dict)


def compared(before: Features, after: Features) -> Iterator[Derived]:
    """Yields the labels that the difference of two sides shows; none where nothing is recognised."""
    fewer = after.statements < before.statements
    explained = False
    if new := _new(before.kernels, after.kernels):
        explained = True
        yield _derived(Label.CUSTOM_KERNEL, "compiled apart", new)
    if (new := _new(before.vectors, after.vectors)) and (fewer or after.loops < before.loops or _always(new)):
        explained = True
        yield _derived(Label.VECTORISATION, "instead of loops", new)
    if new := _new(before.libraries, after.libraries):
        explained = True
        yield _derived(Label.LIBRARY_CALL, "called anew", new)
    elif fewer and (new := _new(before.helpers, after.helpers)):
        explained = True
        yield _derived(Label.LIBRARY_CALL, "instead of a loop", new)
    caches = _new(before.caches, after.caches)
    if caches:
        yield _derived(Label.CACHING, "results kept while the call lasts", caches)
    structures = _new(before.structures, after.structures)
    if caches and set(structures) == {"dict"}:
        structures = {}
    if structures:
        yield Derived(Label.DATA_STRUCTURE, f"uses {_names(structures)}")
    if new := _new(before.flags, after.flags):
        yield Derived(Label.COMPILER_FLAG, f"sets {_names(new)}")
    if new := _new(before.precision, after.precision):
        yield Derived(Label.LOWER_PRECISION, f"computes in {_names(new)}")
    if why := _algorithm(before, after, explained):
        yield Derived(Label.ALGORITHM, why)


def _algorithm(before: Features, after: Features, explained: bool) -> str:
    """Returns what shows another algorithm; empty where fewer loops follow from a call that does the same."""
    if before.recursive and not after.recursive:
        return f"{_names({name: set() for name in before.recursive})} no longer calls itself"
    if explained:
        return ""
    if after.depth < before.depth:
        return f"loops nest {after.depth} deep instead of {before.depth}"
    if after.loops < before.loops:
        return f"{after.loops} loops instead of {before.loops}"
    if after.depth == before.depth and after.loops == before.loops:
        for name, old, new in (
            ("range", before.ranges, after.ranges),
            ("condition", before.conditions, after.conditions),
        ):
            if (gone := old - new) and (come := new - old):
                return f"the {name} of a loop changed from {min(gone)} to {min(come)}"
        if after.leaves > before.leaves:
            return "a loop ends early"
    if after.appended < before.appended:
        return "a text is joined once instead of growing in a loop"
    return ""


def _always(new: Lines) -> bool:
    """Whether these are vector instructions, whatever became of the loops."""
    return any(name.startswith(("_mm", "__m", "simd", "v")) and "." not in name for name in new)


def _new(before: Lines, after: Lines) -> Lines:
    return {name: lines for name, lines in after.items() if name not in before}


def _derived(label: Label, why: str, new: Lines) -> Derived:
    return Derived(label, f"{_names(new)} {why}", frozenset(line for lines in new.values() for line in lines))


def _names(new: Lines) -> str:
    names = sorted(new)
    return ", ".join(names[:4]) + (" and others" if len(names) > 4 else "")
