"""What the agents are told of one round, as facts: the Coder's prompt and the Judge's are both built from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from whet.agents.experience import Recalled
from whet.agents.models.base import Attempt, Brief
from whet.agents.person import SILENCE, Said
from whet.agents.room import WHOLE, Cut
from whet.agents.siblings import Sibling
from whet.core.candidate import Candidate
from whet.core.circumstances import Circumstances
from whet.core.constraint import Constraint
from whet.core.measurement import Speedup
from whet.core.profile import HotLine, Profile
from whet.core.task import Task
from whet.sandbox.toolchains import native


@dataclass(frozen=True, slots=True)
class Partner:
    """Another version, to be joined with the parent.

    Attributes:
        source: its text.
        record: what became of it, see `Evaluations.record`.
    """

    source: str
    record: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Situation:
    """The facts that a prompt of one round is built from; both agents are told the same.

    Attributes:
        task: what is to be made faster.
        metric: what counts: time, memory, ...
        cores: that a candidate may use.
        place: where candidates run, and on what.
        round: counted from 1.
        rounds: the most there will be.
        parent: the text to build upon.
        profile: of the parent.
        best: the parent's measured speedup; None where it is the baseline.
        leads: whether the parent is the best so far.
        directive: the Judge's last one, or an empty string.
        focus: the hot line to work on; None leaves it open.
        partner: another version, to be joined with the parent; None for none.
        last: records of the last round's candidates, see `Evaluations.record`.
        earlier: records of the candidates before those, newest first.
        siblings: of all before the last round, those that are worth a look.
        complaints: why answers of the last round could not be used.
        tried: ids of all candidates so far.
        built: evidence of the parent's build.
        said: what a person who takes part said so far.
        remembered: what earlier runs found out about code like this.
        others: metrics that are improved too where that costs nothing in the one that counts.
        constraints: that a candidate has to keep.
    """

    task: Task
    metric: str
    cores: int
    place: Circumstances
    round: int
    rounds: int
    parent: Candidate
    profile: Profile
    best: Speedup | None
    leads: bool = True
    directive: str = ""
    focus: HotLine | None = None
    partner: Partner | None = None
    last: Sequence[Mapping[str, Any]] = ()
    earlier: Sequence[Mapping[str, Any]] = ()
    siblings: Sequence[Sibling] = ()
    complaints: Sequence[str] = ()
    tried: tuple[str, ...] = ()
    built: Mapping[str, Any] = field(default_factory=dict)
    said: Said = SILENCE
    remembered: tuple[Recalled, ...] = ()
    others: tuple[str, ...] = ()
    constraints: tuple[Constraint, ...] = ()

    def brief(self, verdicts: tuple[Mapping[str, Any], ...] = ()) -> Brief:
        """Returns the same facts for models that are programs."""
        language, source = native.language_of(self.task, self.parent.source), self.parent.source
        hot = self.profile.lines
        if self.task.reference is not None and language == "asm":  # known edits are of C
            (source, language), hot = self.task.original, ()
        return Brief(
            language=language,
            kind=self.task.kind.value,
            symbol=self.task.symbol,
            source=source,
            hot=hot,
            tried=self.tried,
            attempts=_attempts([*(verdicts or self.last), *self.earlier]),
            verdicts=verdicts,
            signature=self.task.signature,
            open_flags=native.TUNED in native.variants(self.task, self.task.source),
            isa=self.task.isa,
            features=self.task.features,
        )

    def told_earlier(self, cut: Cut = WHOLE) -> tuple[Sequence[Sibling], Sequence[Mapping[str, Any]]]:
        """Returns what a prompt tells of the candidates before the last round: whole, and those in a line each."""
        siblings = self.siblings[: cut.siblings]
        told = {self.parent.id, *(sibling.record["candidate"] for sibling in siblings)}
        return siblings, [record for record in self.earlier if record["candidate"] not in told][: cut.tried]


def _attempts(records: Sequence[Mapping[str, Any]]) -> tuple[Attempt, ...]:
    """Returns what records say of candidates; a parent that is not among them is taken for the original."""
    known = {record["candidate"]: record for record in records}
    return tuple(_attempt(record, known.get(record["parent"])) for record in records)


def _attempt(record: Mapping[str, Any], parent: Mapping[str, Any] | None) -> Attempt:
    low, high = (parent["low"], parent["high"]) if parent and parent["ratio"] is not None else (1.0, 1.0)
    ratios = (None, None) if record["ratio"] is None else (record["low"] / high, record["high"] / low)
    return Attempt(record["origin"], record["note"], record["correct"], *ratios)
