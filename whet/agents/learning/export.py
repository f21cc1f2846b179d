"""Past runs as training data: JSON Lines, one line an example."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from whet.agents.learning.answers import answer, answered, asked
from whet.agents.learning.gathering import Judged, TaskHistory, gather
from whet.agents.learning.pairs import faults, preferences
from whet.agents.learning.records import DpoLine, FaultLine, Line, Provenance, RrhfLine, SftLine
from whet.core.about import __version__
from whet.core.errors import UsageError
from whet.core.measurement import Outcome
from whet.core.options import one_of
from whet.core.plain import to_plain
from whet.core.store import RunRecord, Store

UNKNOWN = "unknown"
"""The licence of code that nobody has told the licence of."""
LEAST_RANKED = 2  # candidates of a line of rrhf, which ranks them; one has no order, more leave out tasks with few
LACKS = {
    "sft": "no candidate that was shown to be faster",
    "rrhf": "no task with two candidates to rank",
    "dpo": "no right candidate with one that is clearly worse",
    "fault-pairs": "no wrong candidate that is nearly equal to a right one",
}
"""What runs lack of which nothing can be written, by format."""


@dataclass(frozen=True, slots=True)
class ExportedLines:
    """What runs give.

    Attributes:
        lines: of JSON, without line ends.
        private: how many texts were left out for a folder of the user, or what looks like a key, in them.
    """

    lines: tuple[str, ...]
    private: int


@dataclass(frozen=True, slots=True)
class _Page:
    """What all lines of one task have in common."""

    group: TaskHistory
    licence: str

    def common(self, form: str, *runs: str) -> dict[str, Any]:
        """Returns the fields of `Line` for a line that rests on these runs."""
        told = tuple(run for name, run in self.group.runs.items() if name in runs)
        return {
            "schema": f"whet.{form}/1",
            "task": self.group.subject,
            "licence": self.licence,
            "provenance": Provenance(f"whet {__version__}", told),
        }

    def answer(self, one: Judged) -> str:
        return answer(self.group.task, one.source)


def export(
    store: Store, records: Sequence[RunRecord], form: str, *, licence: str = UNKNOWN, named: bool = True
) -> ExportedLines:
    """Turns runs into training data.

    Args:
        store: that holds them.
        records: the runs, newest first.
        form: one of `FORMATS`.
        licence: of the code in them, best as an SPDX expression.
        named: whether somebody asked for each of these runs, so that each must hold a candidate.

    Raises:
        UsageError: there is no such form, a named run holds no candidate, or the runs give no line of the form.
    """
    one_of("--format", form, FORMATS)
    gathered = gather(store, records)
    if named and gathered.empty:
        raise UsageError(f"run {gathered.empty[0]} holds no candidate that was judged: nothing to learn from")
    lines = tuple(
        json.dumps(to_plain(line), ensure_ascii=False, allow_nan=False)
        for group in gathered.groups
        for line in _FORMS[form](_Page(group, licence))
    )
    if not lines:
        left = f" ({gathered.private} texts with a folder or a key in them were left out)" if gathered.private else ""
        raise UsageError(f"these runs give no line of {form}: {LACKS[form]}{left}")
    return ExportedLines(lines, gathered.private)


def _sft(page: _Page) -> Iterator[Line]:
    for one in page.group.ranked:
        if one.judgement.outcome == Outcome.FASTER:
            yield SftLine(
                **page.common("sft", one.judgement.run),
                prompt=asked(page.group.prompt),
                completion=answered(page.answer(one)),
                solution=one.judgement,
                overhead=one.overheads,
            )


def _rrhf(page: _Page) -> Iterator[Line]:
    ranked = page.group.ranked
    if len(ranked) >= LEAST_RANKED:
        yield RrhfLine(
            **page.common("rrhf", *page.group.runs),
            query=page.group.prompt,
            responses=tuple(map(page.answer, ranked)),
            scores=tuple(one.judgement.reward for one in ranked),
            candidates=tuple(one.judgement for one in ranked),
        )


def _dpo(page: _Page) -> Iterator[Line]:
    for better, worse in preferences(page.group):
        yield DpoLine(
            **page.common("dpo", better.judgement.run, worse.judgement.run),
            prompt=asked(page.group.prompt),
            chosen=answered(page.answer(better)),
            rejected=answered(page.answer(worse)),
            better=better.judgement,
            worse=worse.judgement,
        )


def _fault_pairs(page: _Page) -> Iterator[Line]:
    for right, wrong, marked in faults(page.group):
        yield FaultLine(
            **page.common("fault-pairs", right.judgement.run, wrong.judgement.run),
            prompt=asked(page.group.prompt),
            chosen=answered(page.answer(right)),
            rejected=answered(page.answer(wrong)),
            correct=right.judgement,
            incorrect=wrong.judgement,
            segments=marked.segments,
            similarity=marked.similarity,
        )


_FORMS: Mapping[str, Callable[[_Page], Iterator[Line]]] = {
    "sft": _sft,
    "rrhf": _rrhf,
    "dpo": _dpo,
    "fault-pairs": _fault_pairs,
}
FORMATS = tuple(_FORMS)
