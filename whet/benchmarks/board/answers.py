"""Rows as the board shows them: what became of each answer, and whether its evidence is there.

Whoever wrote a file of rows is a stranger: what is in it is looked at before anything is made of it.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, Field, ValidationError

from whet.benchmarks.results import Row
from whet.benchmarks.runner.rows import read_rows
from whet.core.errors import UsageError
from whet.core.result import SCHEMA, Status
from whet.core.task import MIB
from whet.core.verdict import Reason, RungStatus

CHEATS = frozenset({Reason.CHEATING, Reason.SANDBOX_VIOLATION})
"""Reasons of answers whose figures would have been untrue (law 8); all other failures are honest ones."""
HASH = re.compile(r"[0-9a-f]{64}")
EVIDENCE = ".evidence"
"""Of the folder beside a file of rows that holds its bundles, each named by its SHA-256."""

LONGEST = 4 * MIB
"""Bytes of a row as JSON: the pages of a site are made in the memory of one process."""
LEAST, MOST = 1e-12, 1e12
"""Between which a speedup can be drawn; no honest one lies beyond."""

Ratio = Annotated[float, Field(ge=LEAST, le=MOST)]
Seconds = Annotated[float, Field(ge=0.0, allow_inf_nan=False)]


class AnswerKind(StrEnum):
    """What became of an answer."""

    RIGHT = "right"
    FAILED = "failed"
    CHEAT = "cheat"
    EXCLUDED = "excluded"


class Mark(StrEnum):
    """Whether what a row says can be repeated: its bundle lies beside the rows, is missing there, or is none."""

    BESIDE = "beside"
    MISSING = "missing"
    NONE = "none"


class ToldSpeedup(BaseModel):
    """The headline of a verdict."""

    ratio: Ratio
    low: Ratio
    high: Ratio
    confidence: Annotated[float, Field(gt=0.0, lt=1.0)]
    metric: str
    processes: int
    samples: int
    baseline: str


class ToldRung(BaseModel):
    """One rung of a verdict."""

    name: Annotated[str, Field(pattern=r"^[a-z_]{1,20}$")]
    status: RungStatus
    reason: Reason | None
    detail: str = ""
    seconds: Seconds = 0.0


class ToldCandidate(BaseModel):
    """The candidate of a verdict."""

    id: str
    origin: str
    labels: tuple[str, ...]
    diff: str


class ResultDocument(BaseModel):
    """What the board reads of a document ``whet.result/1``."""

    status: Status
    speedup: ToldSpeedup | None
    candidate: ToldCandidate | None
    rungs: tuple[ToldRung, ...]
    message: str

    @property
    def cheated(self) -> bool:
        """Whether it was rejected for what would have made its figures untrue."""
        return any(rung.status is RungStatus.FAILED and rung.reason in CHEATS for rung in self.rungs)

    @property
    def failed(self) -> ToldRung | None:
        """The rung that the candidate fell from, if any."""
        return next((rung for rung in self.rungs if rung.status is RungStatus.FAILED), None)


@dataclass(frozen=True, slots=True)
class JudgedRow:
    """One row with what is made of it.

    Attributes:
        row: as it was read.
        told: whet's verdict; None where whet was not asked.
        kind: what became of it: right or wrong by the suite's own rule, cheating by whet's verdict.
        mark: whether its evidence is there.
    """

    row: Row
    told: ResultDocument | None
    kind: AnswerKind
    mark: Mark

    @property
    def disputed(self) -> bool:
        """Whether the suite's own rule calls it right, and whet rejects it."""
        passed = self.row.own is not None and self.row.own.passed
        return passed and self.told is not None and (self.told.cheated or self.told.status is Status.REJECTED)

    @property
    def own_speedup(self) -> float | None:
        """The speedup by the suite's own figures: what stands there as ``speedup``."""
        found = (
            self.row.own.figures.get("speedup") if self.row.own is not None and self.kind is AnswerKind.RIGHT else None
        )
        real = isinstance(found, int | float) and not isinstance(found, bool)
        return float(found) if real and LEAST <= found <= MOST else None  # type: ignore[operator, arg-type]

    @property
    def whet_speedup(self) -> float | None:
        """The speedup by whet's verdict."""
        right = self.kind is AnswerKind.RIGHT and self.told is not None and self.told.status is not Status.REJECTED
        return self.told.speedup.ratio if right and self.told is not None and self.told.speedup is not None else None


@dataclass(frozen=True, slots=True)
class Answers:
    """What files of rows come to.

    Attributes:
        answers: in the order of the files.
        faults: a line for each row that could not be read, or is not the newest of its key.
    """

    answers: tuple[JudgedRow, ...]
    faults: tuple[str, ...]


def read_answers(files: Sequence[Path]) -> Answers:
    """Reads rows; of two with the same key and machine the later one counts.

    Raises:
        UsageError: a file cannot be read, or no file holds a row.
    """
    faults: list[str] = []
    newest: dict[tuple[Any, ...], JudgedRow] = {}
    for file in files:
        found = read_rows(file)
        faults += [f"{file.name}: {fault}" for fault in found.faults]
        for row in found.rows:
            answer = _answer(row, file)
            if isinstance(answer, str):
                faults.append(f"{file.name}: {row.problem!r}, sample {row.sample}: {answer}")
                continue
            key = (*row.key, row.machine.kind)
            if key in newest:
                faults.append(f"{file.name}: {row.problem!r}, sample {row.sample}: stood before; the later row counts")
            if key not in newest or newest[key].row.when <= row.when:
                newest[key] = answer
    if not newest:
        raise UsageError(f"no rows in {', '.join(str(file) for file in files)}{f': {faults[0]}' if faults else ''}")
    return Answers(tuple(newest.values()), tuple(faults))


def bundle_beside(file: Path, row: Row) -> Path | None:
    """Returns where a row's bundle lies, if it does; the hash may be any text."""
    if not HASH.fullmatch(row.evidence):
        return None
    path = file.with_suffix(EVIDENCE) / f"{row.evidence}.zip"
    return path if path.is_file() else None


def read_told(document: Mapping[str, Any] | None) -> ResultDocument | None:
    """Returns whet's verdict of a row, None where there is none.

    Raises:
        ValueError: it is no document of the schema.
    """
    if document is None:
        return None
    if document.get("schema") != SCHEMA:
        raise ValueError(f"its result is of another schema than {SCHEMA!r}")
    try:
        return ResultDocument.model_validate(document)
    except (ValidationError, RecursionError) as error:
        first = error.errors()[0] if isinstance(error, ValidationError) else {"loc": (), "msg": "nested without end"}
        raise ValueError(f"result.{'.'.join(map(str, first['loc']))}: {first['msg']}") from None


def _answer(row: Row, file: Path) -> JudgedRow | str:
    cost = row.cost
    amounts = (row.sample, row.seconds, cost.usd, cost.calls, cost.tokens.input, cost.tokens.cached, cost.tokens.output)
    if not all(math.isfinite(amount) and 0 <= amount < 1e15 for amount in amounts):
        return "a cost, a time or a number of it is none"
    try:
        said = [row.answer, row.own.figures if row.own is not None else None, row.result]
        if len(json.dumps(said, allow_nan=False)) > LONGEST:
            return f"larger than {LONGEST // MIB} MiB"
        told = read_told(row.result)
    except ValueError as error:
        return str(error)
    return JudgedRow(row, told, _kind(row, told), _mark(row, file))


def _kind(row: Row, told: ResultDocument | None) -> AnswerKind:
    if row.excluded:
        return AnswerKind.EXCLUDED
    if told is not None and told.cheated:
        return AnswerKind.CHEAT
    return AnswerKind.RIGHT if row.own is not None and row.own.passed else AnswerKind.FAILED


def _mark(row: Row, file: Path) -> Mark:
    if not row.evidence:
        return Mark.NONE
    path = bundle_beside(file, row)
    return Mark.BESIDE if path is not None and file_hash(path) == row.evidence else Mark.MISSING


def file_hash(path: Path) -> str:
    """Returns the SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
