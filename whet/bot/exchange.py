"""What the job without rights hands to the job that posts: a file that nobody vouches for, read as data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from whet.bot.findings import FunctionFinding, FunctionStatus
from whet.bot.request import TARGET, RequestKind
from whet.bot.webhook import Sha
from whet.core.errors import UsageError
from whet.core.plain import to_plain

LARGEST = 8 << 20
"""Bytes of the file, which a job without rights wrote and nobody vouches for; a larger file is refused unread, so none
is written: the longest patches are left out before. A larger value lets that job take more memory of the one that
posts; a smaller one leaves out more patches."""
MOST = 50
"""Findings of the file. Further ones are not written, and a file with more is refused; a larger value makes the file
and the comment longer, a smaller one leaves findings out."""

Line = Annotated[str, StringConstraints(max_length=2000)]
Ratio = Annotated[float, Field(gt=0, lt=1e9, allow_inf_nan=False)]
Share = Annotated[float, Field(gt=0, lt=1, allow_inf_nan=False)]
Amount = Annotated[float, Field(ge=0, lt=1e9, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0, lt=10**9)]


class Exchanged(BaseModel):
    """One finding; see `whet.bot.findings.FunctionFinding`."""

    model_config = ConfigDict(extra="forbid")

    target: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_./+:-]+$", max_length=510)]
    command: Literal["optimize", "verify"]
    answer: FunctionStatus
    run: Line = ""
    ratio: Ratio | None = None
    low: Ratio | None = None
    high: Ratio | None = None
    confidence: Share | None = None
    processes: Count = 0
    samples: Count = 0
    workloads: list[tuple[Line, Ratio, Ratio, Ratio]] = Field(default_factory=list, max_length=100)
    tests: Line = "none"
    labels: list[Line] = Field(default_factory=list, max_length=20)
    patch: Annotated[str, StringConstraints(max_length=200_000)] = ""
    rungs: list[tuple[Line, Line, Line]] = Field(default_factory=list, max_length=20)
    machine: Line = ""
    cost_usd: Amount = 0.0
    cost_complete: bool = True
    seconds: Amount = 0.0
    reproduce: Line = ""
    message: Line = ""
    conditions: list[tuple[Line, Line, Line]] = Field(default_factory=list, max_length=40)

    def finding(self) -> FunctionFinding:
        """Returns it as the bot's own.

        Raises:
            UsageError: the target is no path within the repository.
        """
        if not TARGET.fullmatch(self.target):
            raise UsageError("the findings name a target outside the repository")
        values = self.model_dump()
        for name in ("workloads", "labels", "rungs", "conditions"):
            values[name] = tuple(tuple(one) if isinstance(one, list | tuple) else one for one in values[name])
        return FunctionFinding(**values)


class Handed(BaseModel):
    """The file.

    Attributes:
        form: of the file.
        number: of the pull request.
        head: the commit that it is about.
        kind: what was asked.
        findings: what was found.
    """

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    form: Literal["whet.bot-findings/1"] = Field(alias="schema")
    number: Annotated[int, Field(gt=0)]
    head: Sha
    kind: RequestKind
    findings: list[Exchanged] = Field(max_length=MOST)


def write_findings(path: Path, number: int, head: str, kind: RequestKind, findings: list[FunctionFinding]) -> None:
    """Writes the file; of a patch that does not fit nothing is written."""
    rows = [Exchanged.model_validate(to_plain(one)) for one in findings[:MOST]]
    handed = Handed(schema="whet.bot-findings/1", number=number, head=head, kind=kind, findings=rows)
    while len(text := handed.model_dump_json(by_alias=True, indent=1).encode()) > LARGEST and any(
        row.patch for row in rows
    ):
        max(rows, key=lambda row: len(row.patch)).patch = ""
    path.write_bytes(text)


def read_findings(path: Path) -> Handed:
    """Reads the file.

    Raises:
        UsageError: it is missing, too large, or not what such a file may hold.
    """
    try:
        if path.stat().st_size > LARGEST:
            raise UsageError(f"{path} is larger than {LARGEST} bytes")
        return Handed.model_validate_json(path.read_bytes())
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error}") from None
    except ValidationError as error:
        fault = error.errors()[0]
        where = ".".join(map(str, fault["loc"]))
        raise UsageError(f"{path} is no file of findings: {where}: {fault['type']}") from None
