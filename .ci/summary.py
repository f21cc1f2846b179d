"""Prints what came of each phase of `.ci/run`, the retries and the slowest tests; fails where a phase failed.

Reads a folder: `phases` has a line `NAME RESULT SECONDS` for each phase that was run, `NAME.xml` is what pytest
reports of it (JUnit), `NAME-again.xml` of those of its failures that were run once more, and `NAME.retries` has a line
for each retry of a phase that is no run of pytest.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

SLOWEST = 20
MOST_RETRIES = 3
"""Retries of all phases together: a run that measures more of its large effects again says nothing about the code."""


@dataclass(frozen=True, slots=True)
class Test:
    """One test, as pytest reports it."""

    name: str
    outcome: str
    seconds: float
    retries: tuple[str, ...]


def read_tests(report: Path) -> list[Test]:
    """Returns the tests of a report; none where there is no report."""
    if not report.exists():
        return []
    return [_test(case) for case in ElementTree.parse(report).iter("testcase")]


def _test(case: ElementTree.Element) -> Test:
    outcomes = {"failure": "failed", "error": "failed", "skipped": "skipped"}
    outcome = next((outcomes[child.tag] for child in case if child.tag in outcomes), "passed")
    retries = tuple(one.get("value", "") for one in case.iter("property") if one.get("name") == "retry")
    name = f"{case.get('classname', '')}::{case.get('name', '')}"
    return Test(name, outcome, float(case.get("time", 0)), retries)


def lines(folder: Path) -> Iterator[str]:
    """Yields the summary of a run."""
    slowest: list[Test] = []
    for name, result, seconds in phases(folder):
        tests = read_tests(folder / f"{name}.xml")
        slowest += tests
        yield f"{name:<6} {result:<6} {seconds:>5} s{_counted(folder, name, tests)}"
    for phase, why in retries(folder):
        yield f"retry in {phase}: {why}"
    yield f"the {SLOWEST} slowest tests"
    for test in sorted(slowest, key=lambda one: one.seconds, reverse=True)[:SLOWEST]:
        yield f"{test.seconds:7.1f} s {test.name}"


def phases(folder: Path) -> list[tuple[str, str, str]]:
    """Returns name, result and seconds of each phase."""
    found = []
    for line in (folder / "phases").read_text().splitlines():
        name, result, seconds = line.split()
        found.append((name, result, seconds))
    return found


def retries(folder: Path) -> list[tuple[str, str]]:
    """Returns the phase and the reason of each retry."""
    found = []
    for name, _, _ in phases(folder):
        found += [(name, f"{test.name}: {why}") for test in read_tests(folder / f"{name}.xml") for why in test.retries]
        said = folder / f"{name}.retries"
        found += [(name, why) for why in said.read_text().splitlines()] if said.exists() else []
    return found


def _counted(folder: Path, name: str, tests: list[Test]) -> str:
    """Returns the numbers of a phase's tests; nothing where it has none."""
    if not tests:
        return ""
    numbers = [f"{sum(one.outcome == word for one in tests)} {word}" for word in ("passed", "failed", "skipped")]
    unstable = sum(one.outcome == "passed" for one in read_tests(folder / f"{name}-again.xml"))
    numbers += [f"{unstable} passed when run again"] if unstable else []
    return f"   {', '.join(numbers)}"


def main(folder: Path) -> int:
    """Prints the summary; returns 1 where a phase failed or too much was measured again."""
    for line in lines(folder):
        print(f"ci: {line}")
    taken = len(retries(folder))
    if taken > MOST_RETRIES:
        print(f"ci: FAILED: {taken} retries, {MOST_RETRIES} at most")
    return int(taken > MOST_RETRIES or any(result != "passed" for _, result, _ in phases(folder)))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
