"""``whet board check``: rows of strangers are believed only after their evidence was repeated here."""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from boards import Drawn, lines, row, told
from bundles import GOOD, SLOW, WORKLOAD, WRONG, as_timed, changed

import whet as library
from whet.benchmarks.board.submission import Belief, Checker
from whet.benchmarks.results import Own, Row
from whet.benchmarks.suites.base import Origin, Problem, Reading, Unusable
from whet.core.errors import UsageError
from whet.core.options import Options
from whet.core.plain import to_plain
from whet.core.store import Store
from whet.evaluators.evidence.bundle import Bundle, write_bundle
from whet.evaluators.evidence.record import bundle_of

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
IDS = ("unique", "other")
OTHER = SLOW.replace("item", "thing")


class Unique(Drawn):
    """Two problems; the own rule calls right whatever keeps the order, or, by verdict, what whet does not reject."""

    def read(self, root: Path) -> Reading:
        sources = dict(zip(IDS, (SLOW, OTHER), strict=True))
        return Reading(tuple(Problem(id, id, "python", text, None, {}, "d1") for id, text in sources.items()))

    def write_target(self, problem: Problem, folder: Path) -> str:
        (folder / "slow.py").write_text(problem.unchanged)
        (folder / "workload.py").write_text(WORKLOAD)
        return f"{folder}/slow.py::unique"

    def judge(self, problem: Problem, answer: str, lab: Any) -> Own:
        return Own("sorted" not in answer)


class ByVerdict(Unique):
    def own_of(self, result: Any) -> Own:
        return Own(result["status"] != "rejected", "", {"speedup": 1.0})


@dataclass(frozen=True)
class Made:
    bundle: Bundle
    result: dict[str, Any]
    source: str


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    for name, text in (("slow.py", SLOW), ("workload.py", WORKLOAD), ("good.py", GOOD), ("wrong.py", WRONG)):
        (folder / name).write_text(text)
    return folder


def verified(project: Path, candidate: str) -> Made:
    home = project.with_name("state")
    result = library.verify(
        f"{project}/slow.py::unique",
        candidate=project / candidate,
        home=home,
        until="differential",
        sandbox="bubblewrap",
        workload=project / "workload.py",
    )
    store = Store(home)
    try:
        return Made(bundle_of(store, result.run), result.to_json(), (project / candidate).read_text())
    finally:
        store.close()


@pytest.fixture(scope="module")
def good(project) -> Made:
    return verified(project, "good.py")


@pytest.fixture(scope="module")
def wrong(project) -> Made:
    return verified(project, "wrong.py")


def submitted(folder: Path, made: Made, **fields: Any) -> Row:
    """Writes the bundle beside the rows, and returns the row that is about it."""
    bundles = folder / "rows.evidence"
    bundles.mkdir(exist_ok=True)
    write_bundle(made.bundle, bundles / "new")
    digest = hashlib.sha256((bundles / "new").read_bytes()).hexdigest()
    (bundles / "new").rename(bundles / f"{digest}.zip")
    known = {"own": Own("sorted" not in made.source), "result": made.result, "answer": made.source, "evidence": digest}
    return row(**{"problem": "unique", **known, **fields})


def checked(folder: Path, *rows: Row, suite: type[Drawn] = Unique, more: str = ""):
    file = folder / "rows.jsonl"
    file.write_text(lines(rows) + more)
    checker = Checker(options=Options(sandbox="bubblewrap"), home=folder / "home", suite_of=suite)
    return list(checker.check(file))


def beliefs(found):
    return [(one.belief, one.why) for one in found]


@pytest.mark.corpus
def test_what_repeats_is_accepted_right_or_wrong(good, wrong, tmp_path):
    rows = [submitted(tmp_path, good), submitted(tmp_path, wrong, sample=1)]
    rows.append(replace(rows[0], sample=2))
    rows.append(row("unique", sample=3, own=None, result=None, answer=""))
    found = checked(tmp_path, *rows)
    assert [one.belief for one in found] == [Belief.ACCEPTED] * 4, beliefs(found)
    assert [one.why for one in found] == ["repeated here; not signed"] * 3 + ["it claims nothing"]
    store = Store(tmp_path / "home")
    assert len(store.runs()) == 2, "the evidence that two rows share is repeated once"
    store.close()


@pytest.mark.corpus
def test_a_ratio_that_is_not_that_of_the_evidence_is_found(good, tmp_path):
    timed = as_timed(good.bundle, 2.0)
    speedup = to_plain(timed.record.speedup)
    result = {**good.result, "status": "improved", "speedup": speedup}
    raised = {**speedup, "ratio": speedup["ratio"] * 3}
    made = Made(timed, {**result, "speedup": raised}, good.source)
    ((belief, why),) = beliefs(checked(tmp_path, submitted(tmp_path, made)))
    assert (belief, why) == (Belief.CONTRADICTED, "its speedup is not that of its evidence: ratio")

    # and where the bundle was changed with it
    forged = changed(timed, lambda record: record["speedup"].update(ratio=raised["ratio"]))
    made = Made(forged, {**result, "speedup": raised}, good.source)
    ((belief, why),) = beliefs(checked(tmp_path, submitted(tmp_path, made)))
    assert belief is Belief.CONTRADICTED
    assert "contradicts itself" in why
    assert str(tmp_path) not in why


@pytest.mark.parametrize(
    ("change", "belief", "said"),
    [
        ({"evidence": ""}, Belief.NOT_REPEATABLE, "names no evidence"),
        ({"evidence": "a" * 64}, Belief.NOT_REPEATABLE, "does not lie beside"),
        ({"evidence": "../../outside"}, Belief.NOT_REPEATABLE, "does not lie beside"),
        ({"evidence": "\x00"}, Belief.NOT_REPEATABLE, "does not lie beside"),
        ({"answer": GOOD + "\n"}, Belief.CONTRADICTED, "about another answer"),
        ({"problem": "other"}, Belief.CONTRADICTED, "about another problem: baseline/slow.py"),
        ({"problem": "../unique"}, Belief.CONTRADICTED, "no such problem"),
        ({"data": "d2"}, Belief.NOT_REPEATABLE, "another revision"),
        ({"result": None}, Belief.CONTRADICTED, "no verdict"),
        ({"result": told(None, "rejected", "wrong_output")}, Belief.CONTRADICTED, "it says rejected"),
        ({"result": told(2.0, rungs=[{"name": "\x1b"}])}, Belief.CONTRADICTED, "result.rungs.0"),
        ({"own": Own(False, "slow")}, Belief.CONTRADICTED, "own rule: failed there, right here"),
        ({"excluded": "it failed"}, Belief.NOT_REPEATABLE, "cannot be told from here"),
    ],
)
def test_a_row_that_its_evidence_does_not_bear_is_not_accepted(good, tmp_path, change, belief, said):
    one = submitted(tmp_path, good, **change)
    (tmp_path.parent / "outside.zip").write_bytes(b"")
    ((found, why),) = beliefs(checked(tmp_path, one))
    assert (found, said in why) == (belief, True), why


@pytest.mark.corpus
def test_figures_that_do_not_follow_from_the_verdict_are_found(good, tmp_path):
    honest = submitted(tmp_path, good, own=Own(True, "", {"speedup": 1.0}))
    boasting = replace(honest, sample=1, own=Own(True, "", {"speedup": 9.0}))
    found = checked(tmp_path, honest, boasting, suite=ByVerdict)
    assert [one.belief for one in found] == [Belief.ACCEPTED, Belief.CONTRADICTED], beliefs(found)
    assert found[1].why == "its own figures do not follow from its verdict"


@pytest.mark.corpus
def test_a_verdict_that_this_machine_does_not_come_to_is_found(good, wrong, tmp_path):
    """A bundle that agrees with itself, and says that a wrong answer is right."""

    def praise(record):
        record["rungs"] = to_plain(good.bundle.record)["rungs"]
        record["status"] = "no_improvement"

    made = Made(changed(wrong.bundle, praise), good.result, wrong.source)
    ((belief, why),) = beliefs(checked(tmp_path, submitted(tmp_path, made, own=Own(False))))
    assert belief is Belief.CONTRADICTED, why
    assert "repeated here, it differs: differential" in why, why


def test_a_bundle_with_other_bytes_or_none_of_whets_is_refused(good, tmp_path):
    one = submitted(tmp_path, good)
    path = tmp_path / "rows.evidence" / f"{one.evidence}.zip"
    path.write_bytes(path.read_bytes().replace(b"dict.fromkeys", b"dict.FROMKEYS"))
    junk = b"no zip"
    digest = hashlib.sha256(junk).hexdigest()
    (tmp_path / "rows.evidence" / f"{digest}.zip").write_bytes(junk)
    found = checked(tmp_path, one, replace(one, sample=1, evidence=digest))
    assert [one.belief for one in found] == [Belief.CONTRADICTED] * 2
    assert "another SHA-256" in found[0].why
    assert "no evidence of whet" in found[1].why


def test_less_care_than_a_leaderboard_asks_for_is_found(good, tmp_path):
    hasty = changed(good.bundle, lambda record: record["settings"].update(confidence=0.5))
    ((belief, why),) = beliefs(checked(tmp_path, submitted(tmp_path, replace(good, bundle=hasty))))
    assert (belief, "--confidence 0.5" in why) == (Belief.CONTRADICTED, True)


def test_a_suite_whose_data_or_reference_is_not_here_says_so(good, tmp_path):
    class Elsewhere(Unique):
        origin = Origin("somewhere", "unknown", {"*.json": "the problems"})

    class Failing(Unique):
        def judge(self, problem: Problem, answer: str, lab: Any) -> Own:
            raise Unusable("no compiler")

    one = submitted(tmp_path, good)
    for suite, said in ((Elsewhere, "takes --root"), (Failing, "fails here: no compiler")):
        ((belief, why),) = beliefs(checked(tmp_path, one, suite=suite))
        assert (belief, said in why) == (Belief.NOT_REPEATABLE, True)


def test_lines_that_are_no_rows_count_against_it(tmp_path):
    nothing = row("unique", own=None, result=None, answer="")
    found = checked(tmp_path, nothing, more='{"schema": "whet.bench.row/7"}\n{"schema": "whet.bench.')
    assert sorted(one.belief for one in found) == [Belief.ACCEPTED, Belief.CONTRADICTED, Belief.CONTRADICTED]
    with pytest.raises(UsageError, match="holds no rows"):
        checked(tmp_path)


@pytest.mark.corpus
def test_the_command_says_it_in_lines_and_in_a_document(whet, tmp_path):
    hostile = row("\x1b[2J\u202ep", suite="no such suite")
    file = tmp_path / "rows.jsonl"
    file.write_text("{}\n")
    done = whet("board", "check", file)
    assert (done.returncode, done.stderr) == (3, "")
    assert done.stdout.splitlines()[-1] == "0 of 1 row accepted"
    document = json.loads(whet("board", "check", file, "--json").stdout)
    assert document["schema"] == "whet.board.check/1"
    assert document["rows"][0]["belief"] == "contradicted"
    file.write_text(lines([hostile]))
    done = whet("board", "check", file)
    assert (done.returncode, done.stdout.count("\n")) == (3, 2)
    assert "not repeatable here: no suite 'no such suite'" in done.stdout
    assert not {"\x1b", "\u202e"} & set(done.stdout)
