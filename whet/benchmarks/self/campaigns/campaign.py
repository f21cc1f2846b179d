"""Runs a campaign: items with stable ids, whose results are kept in a file and not measured again.

A result counts as long as its key holds: the commit, whet's own sources, the machine, the seed and what is measured. So
a campaign that is killed goes on where it was, and no file mixes results of two commits or machines.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

from whet.benchmarks.self.campaigns.place import CampaignProvenance
from whet.core.errors import BaselineError, SandboxError, UsageError, nearest
from whet.core.plain import from_plain, to_plain
from whet.core.store import default_home
from whet.core.text import one_line

SCHEMA = "whet.campaign/1"
LEFT_OUT = ("__pycache__",)


class Status(StrEnum):
    """What an item came to."""

    RIGHT = "right"
    WRONG = "wrong"
    """It is not as demanded; the campaign fails."""
    MISSING = "missing"
    """This machine lacks what it needs; it is tried again at the next start."""


@dataclass(frozen=True, slots=True)
class Item:
    """Something that is measured by itself.

    Attributes:
        id: stable and unique in its campaign.
        subject: digest of the files that are measured, where whet's own modules do not hold them; see `digest`.
    """

    id: str
    subject: str = ""


@dataclass(frozen=True, slots=True)
class ItemResult:
    """What was measured of an item.

    Attributes:
        status: what it came to.
        line: for people.
        facts: plain JSON data, from which tables are made.
    """

    status: Status
    line: str
    facts: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Record:
    """A finding as it is kept.

    Attributes:
        id: of the item.
        key: of what it holds for; see `key_of`.
        when: it was finished, in UTC, as ISO 8601.
        seconds: that it took.
    """

    id: str
    key: str
    when: str
    seconds: float
    status: Status
    line: str
    facts: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Results:
    """The file of a campaign, schema ``whet.campaign/1``.

    Attributes:
        campaign: its name.
        seed: of its inputs.
        place: date, machine and commit; the date is that of the last finished item.
        counts: records by status.
        records: by item, in the order of the campaign.
    """

    campaign: str
    seed: int
    place: CampaignProvenance
    counts: Mapping[str, int]
    records: tuple[Record, ...]
    schema: str = SCHEMA


Measure = Callable[[Item], ItemResult]


class Campaign(Protocol):
    """A campaign.

    Attributes:
        name: as ``whet bench self`` takes it.
        seed: of all inputs.
        items: all that it has, in the order in which they are measured.
        asked: those of them that are asked for now.
    """

    name: str
    seed: int
    items: tuple[Item, ...]
    asked: tuple[Item, ...]

    def opened(self) -> AbstractContextManager[Measure]:
        """Opens what the items share; yields what measures one of them."""
        ...

    def table(self, records: Sequence[Record]) -> Iterator[str]:
        """Yields the table, in Markdown, and the figures that all records together come to."""
        ...


def run(campaign: Campaign, file: Path, place: CampaignProvenance) -> Iterator[str]:
    """Measures the items asked for that have no result yet; yields a line for each of them, then the table.

    Args:
        campaign: whose items are measured.
        file: of its results, written after each item.
        place: where and of what it is measured.

    Raises:
        UsageError: the file holds something else.
    """
    known = _known(campaign, file, place)
    left = [item for item in campaign.asked if item.id not in known]
    yield f"{campaign.name}: {len(campaign.asked)} items, {len(campaign.asked) - len(left)} of them finished before"
    yield f"{place}; seed {campaign.seed}"
    if left:
        with campaign.opened() as measure:
            for number, item in enumerate(left, 1):
                record = _measured(measure, item, key_of(campaign, item, place))
                known[item.id] = record
                _write(file, _results(campaign, place, known.values()))
                yield one_line(f"[{number}/{len(left)}] {record.status}: {item.id}: {record.line}")
    asked = [known[item.id] for item in campaign.asked]
    yield ""
    yield from campaign.table(asked)
    yield ""
    yield from (one_line(f"wrong: {one.id}: {one.line}") for one in asked if one.status is Status.WRONG)
    yield f"{_told(_counts(asked))}; results in {file}"


def failed(campaign: Campaign, file: Path) -> bool:
    """Whether an item that was asked for of a campaign that has been run is not as demanded."""
    asked = {item.id for item in campaign.asked}
    return any(record.status is Status.WRONG for record in read(file).records if record.id in asked)


def read(file: Path) -> Results:
    """Reads the results of a campaign.

    Raises:
        UsageError: the file cannot be read, or holds something else.
    """
    try:
        plain = json.loads(file.read_text(encoding="utf-8"))
        if plain["schema"] != SCHEMA:
            raise ValueError(f"its schema is {plain['schema']!r}")
        return from_plain(Results, plain)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{file} holds no results of a campaign: {one_line(repr(error))[:200]}") from None


def default_file(name: str) -> Path:
    """Returns where the results of a campaign lie unless the user names a file."""
    return default_home() / "campaigns" / f"{name}.json"


def chosen(items: Iterable[Item], ids: Sequence[str]) -> tuple[Item, ...]:
    """Returns the items of some ids; all of them where no id is given.

    Raises:
        UsageError: there is no item of an id; names the nearest.
    """
    known = {item.id: item for item in items}
    if unknown := next((id for id in ids if id not in known), None):
        raise UsageError(f"there is no item '{unknown}'{nearest(unknown, known)}")
    return tuple(item for item in known.values() if not ids or item.id in ids)


def digest(*folders: Path) -> str:
    """Returns a SHA-256 over the files of some folders."""
    total = hashlib.sha256()
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.parent.name not in LEFT_OUT:
                total.update(f"{path.relative_to(folder)}\0".encode())
                total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()


def key_of(campaign: Campaign, item: Item, place: CampaignProvenance) -> str:
    """Returns what a result of an item holds for."""
    parts = (campaign.name, campaign.seed, item.id, item.subject, json.dumps(to_plain(place.lasting), sort_keys=True))
    return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()[:16]


def _known(campaign: Campaign, file: Path, place: CampaignProvenance) -> dict[str, Record]:
    """Returns the results in the file that still hold, those of items that nobody asks for now among them."""
    if not file.exists():
        return {}
    results = read(file)
    if results.campaign != campaign.name:
        raise UsageError(f"{file} holds results of {results.campaign}, not of {campaign.name}")
    keys = {item.id: key_of(campaign, item, place) for item in campaign.items}
    return {
        record.id: record
        for record in results.records
        if record.status is not Status.MISSING and record.key == keys.get(record.id)
    }


def _measured(measure: Measure, item: Item, key: str) -> Record:
    start = time.perf_counter()
    try:
        found = measure(item)
    except (BaselineError, SandboxError) as error:
        found = ItemResult(Status.WRONG, str(error), {})
    seconds = round(time.perf_counter() - start, 1)
    return Record(item.id, key, _now(), seconds, found.status, found.line, found.facts)


def _results(campaign: Campaign, place: CampaignProvenance, records: Iterable[Record]) -> Results:
    order = {item.id: number for number, item in enumerate(campaign.items)}
    kept = sorted(records, key=lambda record: order[record.id])
    last = max(record.when for record in kept)
    return Results(campaign.name, campaign.seed, replace(place, date=last), _counts(kept), tuple(kept))


def _counts(records: Iterable[Record]) -> dict[str, int]:
    found = Counter(record.status for record in records)
    return {status.value: found[status] for status in Status}


def _told(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{number} {status}" for status, number in counts.items())


def _write(file: Path, results: Results) -> None:
    """Replaces the file at one instant: a kill leaves either the old one or the new one."""
    file.parent.mkdir(parents=True, exist_ok=True)
    new = file.with_name(f"{file.name}.{os.getpid()}.new")
    with new.open("w", encoding="utf-8") as stream:
        stream.write(json.dumps(to_plain(results), indent=1) + "\n")
        stream.flush()
        os.fsync(stream.fileno())
    new.replace(file)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
