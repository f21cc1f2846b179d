"""A line for each step, one table for all, and the page that keeps it. Of the standard library alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from whet.benchmarks.gpu_check.findings import BUILD, INTERPRETER, NOT_RUN, PROFILE, AnswerResult, StepResult
from whet.benchmarks.gpu_check.rows import RIGHT, Row
from whet.benchmarks.page import DOCS, write_between

PAGE = DOCS / "gpu-check.md"
BEGIN, END = "<!-- gpu-check: begin -->", "<!-- gpu-check: end -->"
HEADER = (
    "| kernel | language | answer | expected | got | build | interpreter | against eager | against torch.compile "
    "| roofline, call | roofline, kernels | profile |"
)
RULE = "|" + "---|" * (HEADER.count("|") - 1)
FIRST = "Machine: "
COLUMNS = 3
"""That name a row."""


def step_lines(step: str, found: Sequence[AnswerResult]) -> Iterator[str]:
    """Yields what came of one step, in a line; further ones for what could not run, and for what was not expected."""
    met = {one.row: one.steps[step] for one in found if step in one.steps}
    ran = {row: outcome for row, outcome in met.items() if outcome.ran}
    missed: dict[str, int] = {}
    for outcome in met.values():
        if not outcome.ran:
            why = _line(outcome.detail)
            missed[why] = missed.get(why, 0) + 1
    if ran or not missed:
        yield from _told(step, ran)
    for why, count in missed.items():
        yield f"{step}: {NOT_RUN}{f' for {count} answers' if ran or len(missed) > 1 else ''}: {why}"


def verdict_lines(found: Sequence[AnswerResult]) -> Iterator[str]:
    """Yields how many verdicts came out as they must, and those that did not."""
    verdicts = {one.row: one.verdict for one in found if one.verdict is not None}
    if verdicts:
        yield from _told("verdicts", verdicts)


def complete(found: Sequence[AnswerResult]) -> bool:
    """Whether every step ran, and everything came out as it must."""
    steps = all(outcome.fits for one in found for outcome in one.steps.values())
    return bool(found) and steps and all(one.verdict is None or one.verdict.fits for one in found)


def _told(what: str, outcomes: Mapping[Row, StepResult]) -> Iterator[str]:
    wrong = {row: outcome for row, outcome in outcomes.items() if not outcome.fits}
    yield f"{what}: {len(outcomes) - len(wrong)} of {len(outcomes)} answers as expected"
    for row, outcome in wrong.items():
        wanted, got = _words(outcome.expected), f"{outcome.word} {_line(outcome.detail)}".strip()
        yield f"  {row.kernel}, {row.language}, {row.answer}: expected {wanted}, got {got}"


def table(found: Sequence[AnswerResult]) -> list[str]:
    """Returns the table, a line a row."""
    return [HEADER, RULE, *(_row(one) for one in found)]


def _row(found: AnswerResult) -> str:
    row, figures = found.row, found.figures
    steps = [_cell(found.steps.get(step)) for step in (BUILD, INTERPRETER)]
    shares = ["-" if share is None else f"{share:.0%}" for share in (figures.call, figures.kernels)]
    profile = found.steps.get(PROFILE)
    cells = [
        row.kernel, row.language, row.answer, _words(row.expected), _cell(found.verdict), *steps,
        figures.eager or "-", figures.compiled or "-", *shares, "-" if profile is None else _profiled(profile),
    ]  # fmt: skip
    return f"| {' | '.join(cells)} |"


def _profiled(outcome: StepResult) -> str:
    return f"{outcome.word}: {_line(outcome.detail.partition(';')[0])}" if outcome.ran else NOT_RUN


def _cell(outcome: StepResult | None) -> str:
    if outcome is None:
        return "-"
    return outcome.word if outcome.fits or not outcome.ran else f"**{outcome.word}**"


def _words(expected: Sequence[str]) -> str:
    return "right" if tuple(expected) == RIGHT else " or ".join(expected)


def _line(text: str) -> str:
    """Returns a text in a line that harms no table."""
    return " ".join(text.split()).replace("|", "/")[:300]


def write(machine: str, found: Sequence[AnswerResult], page: Path = PAGE) -> None:
    """Puts the table into the page; rows of the same machine that were not run now stay."""
    rows = {_key(line): line for line in (_row(one) for one in found)}
    kept = _standing(machine, page)
    date = datetime.now(UTC).strftime("%Y-%m-%d")
    lines = [kept[key] if key not in rows else rows[key] for key in sorted({*kept, *rows})]
    write_between(page, BEGIN, END, "\n".join([f"{FIRST}{machine}", "", f"Date: {date}", "", HEADER, RULE, *lines]))


def _standing(machine: str, page: Path) -> dict[tuple[str, ...], str]:
    text = page.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0]
    lines = text.strip().splitlines()
    if not lines or lines[0] != f"{FIRST}{machine}":
        return {}
    return {_key(line): line for line in lines if line.startswith("| ") and line != HEADER}


def _key(line: str) -> tuple[str, ...]:
    return tuple(cell.strip() for cell in line.strip("|").split("|")[:COLUMNS])
