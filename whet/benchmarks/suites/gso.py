"""GSO: patches that must reach the expert's commit on generated performance tests.

Its own rule: each test stores the base's result (``--reference``), and the patched program must give an equal one
(``--eqcheck``); each tells its own "Execution time", of which the mean over five runs counts. A patch counts if it is
1.2 times as fast as the base and reaches 0.95 of the expert's commit (`whet.evaluators.scores.gso`). Traps: the clock
and the comparison lie in the process of the patched program, and no unit test runs, so that state kept between runs and
paths shaped like the test pass. Here base, patch and commit run in turns, each in a sandbox of its own, which the
base's results alone leave; a time that does not fit into the seconds outside is none.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whet.benchmarks.lab.base import Lab
from whet.benchmarks.results import Own, Row
from whet.benchmarks.suites.base import Figure, NoTarget, Origin, Problem, Reading, Score, Unusable
from whet.benchmarks.suites.files import json_of
from whet.benchmarks.suites.grouping import grouped, passed
from whet.benchmarks.suites.jsonl import RowFault, field
from whet.benchmarks.suites.repositories import rows as repositories
from whet.benchmarks.suites.repositories.trees import Tree, proper, trees, usable
from whet.benchmarks.suites.samples import draws
from whet.core.errors import UsageError
from whet.evaluators.finding import Fault
from whet.evaluators.scores import common, gso
from whet.sandbox.cores import measuring_cores

SECONDS = 300.0
"""Seconds of one run of a test, as in the suite, and of each shell command; a rebuild has six times as many. A smaller
limit fails slow tests, and excludes a row where base or commit is slow; a larger one waits longer for what hangs."""
TIME = re.compile(rb"Execution time:\s+([0-9.]+)s")
ONCE = ("llama-cpp-python", "onnxruntime", "tokenizers")
"""Repositories whose tests run once, as the suite has it."""
COMMIT = re.compile(r"[0-9a-f]{7,40}")


@dataclass(frozen=True, slots=True)
class Gso:
    """The suite.

    Attributes:
        rounds: runs of each test.
    """

    rounds: int = 5

    name = "gso"
    title = "GSO: patches that reach the expert's commit on performance tests"
    status = "published score reproduced"
    origin = Origin(
        source="huggingface.co/datasets/gso-bench/gso; harness at github.com/gso-bench/gso",
        licence="unknown",
        files={
            "*.jsonl": "the rows, exported as JSON Lines: datasets' Dataset.to_json does that",
            "checkouts/*": "a repository at its base commit, with the history that holds opt_commit, for each "
            "instance_id, and INSTANCE_ID.sh to rebuild it",
        },
        notes=(
            "--python is the environment of the tests, without the library itself",
            "tests that load data from the network need it beside the checkout: the sandbox has no network",
        ),
    )

    def read(self, root: Path) -> Reading:
        """See `whet.benchmarks.suites.base.Suite.read`."""
        return repositories.read(root, self.name, _fields)

    def answers(self, file: Path, problems: Sequence[Problem]) -> Mapping[tuple[str, int], str]:
        """Returns predictions; see `whet.benchmarks.suites.repositories.rows.answers`."""
        return repositories.answers(file)

    def write_target(self, problem: Problem, folder: Path) -> str:
        """See `whet.benchmarks.suites.base.Suite.write_target`."""
        raise NoTarget(f"{problem.id} is a repository: an answer is a patch, which only the suite's own rule judges")

    def judge(self, problem: Problem, answer: str, lab: Lab) -> Own:
        """See `whet.benchmarks.suites.base.Suite.judge`."""
        data = problem.data
        scripts = {f"gso_test_{number}.py": text for number, text in enumerate(data["tests"])}
        with trees(lab, problem, {"base": "", "commit": "", "patch": answer}, scripts) as made:
            base, commit = usable(made, "base"), usable(made, "commit")
            _check_out(commit, data)
            copy = made["patch"]
            sides = {"base": base, "commit": commit, **({} if isinstance(copy, str) else {"patch": copy})}
            reason = copy if isinstance(copy, str) else ""
            times: dict[str, list[list[float]]] = {side: [[] for _ in scripts] for side in sides}
            rounds = 1 if data["repo"].endswith(ONCE) else self.rounds
            with measuring_cores(1) as cores:
                for number in range(len(scripts) * rounds):
                    test = number % len(scripts)
                    for side, tree in sides.items():
                        if side == "patch" and reason:
                            continue
                        found = _time(tree, test, "--eqcheck" if side == "patch" else "--reference", cores)
                        if isinstance(found, float):
                            times[side][test].append(found)
                        elif side != "patch":
                            raise Unusable(f"test {test} fails on the {side}: {found}")
                        else:
                            reason = f"test {test} fails: {found}"
                        if side == "base" and number < len(scripts) and not isinstance(copy, str):
                            _carry(base, copy, test)
        complete = {side: of for side, of in times.items() if side != "patch" or not reason}
        figures: dict[str, Any] = {side: [statistics.fmean(one) for one in of] for side, of in complete.items()}
        if not reason:
            sides_of = figures["base"], figures["patch"]
            figures["opt_base"] = gso.opt_base(*sides_of)
            figures["opt_commit"] = gso.opt_commit(*sides_of, figures["commit"])
        return Own(not reason, reason, figures, "s", "clock")

    def score(self, rows: Sequence[Row]) -> Score:
        """See `whet.benchmarks.suites.base.Suite.score`."""
        found = grouped(rows)
        kept, excluded = found.rows, found.excluded
        figures: list[Figure] = []
        for k in draws(found.fewest, (1, 3, 5, 10)) or (1,):
            counts = [(len(samples), sum(_told(row, "opt_commit") for row in samples)) for samples in kept.values()]
            headline = k == 1
            note = "exact; the suite shuffles its runs 500 times"
            figures.append(
                Figure(f"Opt@{k}", gso.opt_at_k(counts, k), len(kept), note=note, unit="%", headline=headline)
            )
        figures.append(
            _share("faster than the base", [any(_told(row, "opt_base") for row in of) for of in kept.values()])
        )
        figures.append(_share("passed", [any(map(passed, of)) for of in kept.values()]))
        speedups = [
            max((common.geometric_mean(_speedups(row)) for row in of if passed(row)), default=0.0)
            for of in kept.values()
        ]
        return Score(tuple(figures), common.spread(speedups), found.failed, excluded)

    def export(self, rows: Sequence[Row], folder: Path) -> Path | None:
        """Writes predictions; see `whet.benchmarks.suites.repositories.rows.export`."""
        return repositories.export(rows, folder)

    def imported(self, file: Path) -> Score | None:
        """Returns the score of a report of the suite's harness; see `whet.benchmarks.suites.base.Suite.imported`.

        Instances for which it holds times are judged anew; where the rule says otherwise, the note says so.
        """
        if file.suffix != ".json":
            return None
        try:
            report = json_of(file)
        except UsageError:
            return None
        if not isinstance(report, dict) or not {"summary", "instance_sets", "opt_stats"} <= report.keys():
            return None
        return _reported(report)


def _fields(row: dict[str, Any]) -> Mapping[str, Any]:
    tests = repositories.texts(row, "tests")
    commit = field(row, "opt_commit", str)
    if not tests:
        raise RowFault("it has no tests")
    if not COMMIT.fullmatch(commit):
        raise RowFault("opt_commit is no commit")
    expert = row.get("gt_diff")
    return {"expert": expert if isinstance(expert, str) else "", "opt_commit": commit, "tests": tests}


def _check_out(tree: Tree, data: Mapping[str, Any]) -> None:
    """Puts the expert's commit in the place of the base, from the history that the checkout brings."""
    steps = f"git reset -q --hard && git checkout -q {data['opt_commit']}"
    ran = tree.run(steps, SECONDS)
    if ran.well and data["rebuild"]:
        ran = tree.run(data["rebuild"], SECONDS * 6)
    if not ran.well:
        raise Unusable(f"the expert's commit cannot be checked out and built: {ran.why}")


def _time(tree: Tree, test: int, way: str, cores: Sequence[int]) -> float | str:
    """Returns the seconds that a test tells, or what is wrong with it."""
    script = f"{tree.shell.tree}/scripts/gso_test_{test}.py"
    tree.run("rm -f result.txt", SECONDS)
    ran = tree.python([script, "result.txt", way, "--file_prefix", f"gso_{test}"], SECONDS, cores)
    if not ran.well:
        return ran.why
    told = tree.shell.read("/work/repo/result.txt") if tree.run("test -f result.txt", SECONDS).well else b""
    found = TIME.findall(told) if not isinstance(told, Fault) else []
    try:
        seconds = float(found[0]) if len(found) == 1 else 0.0
    except ValueError:
        seconds = 0.0
    if seconds <= 0.0:
        return "it tells no time, or several"
    return seconds if seconds <= ran.seconds else f"{seconds:.3g} s are told, and {ran.seconds:.3g} s passed"


def _carry(base: Tree, copy: Tree, test: int) -> None:
    """Brings what the base stored as its result to the patched copy."""
    packed = base.run(f"tar c gso_{test}_* | base64 -w0", SECONDS)
    if not packed.well or not packed.stdout:
        raise Unusable(f"test {test} stores no result of the base: {packed.why}")
    copy.run("base64 -d | tar x", SECONDS, packed.stdout.encode())


def _told(row: Row, name: str) -> bool:
    return passed(row) and row.own is not None and row.own.figures.get(name) is True


def _speedups(row: Row) -> list[float]:
    assert row.own is not None
    return [before / after for before, after in zip(row.own.figures["base"], row.own.figures["patch"], strict=True)]


def _share(name: str, held: Sequence[bool]) -> Figure:
    ends = common.proportion_interval(sum(held), len(held))
    low, high = (100.0 * ends.low, 100.0 * ends.high) if ends else (None, None)
    return Figure(name, 100.0 * common.mean(map(float, held)), len(held), "higher", low, high, unit="%")


def _reported(report: Mapping[str, Any]) -> Score:
    try:
        total = int(report["summary"]["total_instances"])
        sets = {name: frozenset(map(str, ids)) for name, ids in report["instance_sets"].items()}
        reached, faster, right = (sets[name] for name in ("opt_commit_ids", "opt_base_ids", "passed_ids"))
        stats = {name: of["per_test_means"] for name, of in report["opt_stats"].items() if of.get("per_test_means")}
        again = {name: _again(means) for name, means in stats.items()}
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UsageError(
            f"the report lacks what every report has, or is cut off: {type(error).__name__} {error}"
        ) from None
    if total < len(reached | right) or total < 1:
        raise UsageError(f"the report counts {total} instances, and names more")
    differ = sorted(name for name, held in again.items() if held != (name in reached))
    note = f"{len(again)} judged anew from their times" + (f", {', '.join(differ[:5])} otherwise" if differ else "")
    figures = [_headline(len(reached), total, note)]
    if "hacked_ids" in sets:
        kept = len(reached - sets["hacked_ids"])
        figures.append(
            Figure("Opt@1 without hacks", 100.0 * kept / total, total, note="by the suite's judge", unit="%")
        )
    figures.append(_share("faster than the base", [True] * len(faster) + [False] * (total - len(faster))))
    figures.append(_share("passed", [True] * len(right) + [False] * (total - len(right))))
    speedups = [
        common.geometric_mean(b / p for b, p in zip(of["base"], of["patch"], strict=True)) for of in stats.values()
    ]
    return Score(tuple(figures), common.spread(speedups), total - len(right))


def _again(means: Mapping[str, Sequence[float]]) -> bool:
    base, patch, commit = (means[side] for side in ("base", "patch", "commit"))
    if not all(map(proper, (*base, *patch, *commit))):
        raise ValueError("a time that is none")
    return gso.opt_commit(base, patch, commit)


def _headline(reached: int, total: int, note: str) -> Figure:
    ends = common.proportion_interval(reached, total)
    low, high = (100.0 * ends.low, 100.0 * ends.high) if ends else (None, None)
    return Figure("Opt@1", 100.0 * reached / total, total, "higher", low, high, note, "%", headline=True)


SUITE = Gso()
