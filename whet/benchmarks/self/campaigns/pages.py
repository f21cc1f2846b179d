"""Writes the results of campaigns into ``docs/``: ``python -m whet.benchmarks.self.campaigns.pages [FILE ...]``.

Without a file those of the state directory are read, as far as there are any. Each table is preceded by the date, the
machine and the commit that its file states.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from whet.benchmarks.page import DOCS, write_between
from whet.benchmarks.self.campaigns.attacks import rows_of
from whet.benchmarks.self.campaigns.campaign import Record, Results, default_file, read
from whet.benchmarks.self.campaigns.exploits import played_of, totals
from whet.benchmarks.self.campaigns.registry import NAMES, make
from whet.core.errors import UsageError
from whet.testing.attacks.table import text as attacks_text
from whet.testing.exploits.corpus import exploits
from whet.testing.exploits.table import text as exploits_text

PAGES = {
    "attacks": DOCS / "sandbox.md",
    "exploits": DOCS / "exploits.md",
    "mutants": DOCS / "oracle.md",
    "oracle": DOCS / "oracle.md",
    "steady": DOCS / "measurement.md",
    "timing": DOCS / "measurement.md",
}


def _exploits(records: Sequence[Record]) -> str:
    played = played_of(records)
    return "\n".join([exploits_text(exploits(), played), "", *(f"- {line}" for line in totals(played))])


TEXTS: dict[str, Callable[[Sequence[Record]], str]] = {
    "attacks": lambda records: attacks_text(rows_of(records)),
    "exploits": _exploits,
}
"""Those whose page shows something else than the campaign's table."""
SAMPLED = ("steady",)
"""Those whose table says how many verdicts stand behind each row, so that a part of them is a result too."""


def marks(name: str) -> tuple[str, str]:
    """Returns the marks between which the results of a campaign stand."""
    return f"<!-- {name}: begin -->", f"<!-- {name}: end -->"


def text(results: Results) -> str:
    """Returns what stands between the marks.

    Raises:
        UsageError: items of the campaign are not among the results.
    """
    campaign = make(results.campaign)
    lacking = len({item.id for item in campaign.items} - {record.id for record in results.records})
    if lacking and results.campaign not in SAMPLED:
        raise UsageError(f"{lacking} items of {results.campaign} were not measured: see docs/testing.md")
    render = TEXTS.get(results.campaign)
    shown = render(results.records) if render else "\n".join(campaign.table(results.records))
    return f"Measured on {results.place}; seed {results.seed}.\n\n{shown}"


def write(file: Path, page: Path | None = None) -> Path:
    """Writes the results of a file into their page; returns the page.

    Raises:
        UsageError: the file holds something else, or not all of a campaign.
    """
    results = read(file)
    page = page or PAGES[results.campaign]
    write_between(page, *marks(results.campaign), text(results))
    return page


def main() -> None:
    """Writes the pages."""
    files = [Path(name) for name in sys.argv[1:]] or [file for file in map(default_file, NAMES) if file.exists()]
    for file in files:
        try:
            print(f"{file}: {write(file).name} written")
        except UsageError as error:
            raise SystemExit(str(error)) from None


if __name__ == "__main__":
    main()
