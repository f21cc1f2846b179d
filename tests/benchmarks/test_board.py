"""``whet board``: what the site says of rows, as data and as pages, and how it is shown on this machine."""

from __future__ import annotations

import hashlib
import http.client
import json
import math
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from boards import DIFF, HERE, THERE, Drawn, many, row, told, written

from whet.benchmarks.board import charts
from whet.benchmarks.board.answers import Mark, read_answers
from whet.benchmarks.board.build import build, is_board
from whet.benchmarks.board.entries import slug, standings
from whet.benchmarks.board.pairs import pairs
from whet.benchmarks.board.serve import serving
from whet.benchmarks.results import Own
from whet.core.errors import UsageError
from whet.core.result import Cost, Tokens

LIMIT = 500_000
"""Bytes that an index page may weigh, with all that it needs."""


def built(folder: Path, rows, suite=Drawn):
    return build([written(rows, folder / "rows.jsonl")], folder / "site", suite)


def standing(folder: Path, rows):
    (one,) = standings(read_answers([written(rows, folder / "rows.jsonl")]), Drawn)
    return one


def document(folder: Path, name: str = "drawn/data.json"):
    return json.loads((folder / "site" / name).read_text())


# entries


def test_an_entry_has_its_score_its_failures_and_its_cost(tmp_path):
    cost = Cost(0.5, False, 2, Tokens(100, 10, 5))
    rows = [
        row("p1", speedup=3.0, cost=cost),
        row("p2", speedup=None, cost=cost),
        row("p3", excluded="no reference", own=None),
    ]
    built(tmp_path, rows)
    (entry,) = document(tmp_path)["entries"]
    mean = entry["score"]["figures"][0]
    assert (mean["name"], mean["value"], mean["n"], mean["headline"]) == ("mean speedup", 1.5, 2, True)
    assert (entry["score"]["failed"], entry["score"]["excluded"]) == (1, {"p3": "no reference"})
    assert entry["cost"] == {
        "usd": 1.01,
        "usd_complete": False,
        "calls": 6,
        "tokens": {"input": 3200, "cached": 520, "output": 810},
        "models": {},
    }
    outcomes = {one["problem"]: (one["right"], one["excluded"], one["speedup"]) for one in entry["outcomes"]}
    assert outcomes == {0: (1, False, 3.0), 1: (0, False, None), 2: (0, True, None)}


def test_ranks_are_counted_within_a_machine_and_ties_share_one(tmp_path):
    rows = [
        row(model="a", speedup=2.0),
        row(model="b", speedup=3.0),
        row(model="c", speedup=2.0),
        row(model="d", speedup=1.0),
    ]
    files = [written(rows, tmp_path / "here.jsonl")]
    files.append(written([row(model="b", speedup=9.0, machine=THERE)], tmp_path / "there.jsonl"))
    (one,) = standings(read_answers(files), Drawn)
    assert [(entry.model, entry.machine == HERE.kind, entry.rank) for entry in one.entries] == [
        ("b", True, 1),
        ("a", True, 2),
        ("c", True, 2),
        ("d", True, 4),
        ("b", False, 1),
    ]
    assert "2 kinds of machines" in one.cautions[0]


def test_rows_of_one_machine_need_no_caution_about_machines(tmp_path):
    rows = [row(model="a"), row(model="b")]
    assert not any("machines" in caution for caution in standing(tmp_path, rows).cautions)


@pytest.mark.parametrize("change", [{"problem": "p2"}, {"data": "d2"}])
def test_rows_of_other_problems_or_revisions_are_told(tmp_path, change):
    one = standing(tmp_path, [row(model="a"), row(model="b", **change)])
    assert any("common problems" in caution for caution in one.cautions)
    assert len(one.problems) == 2


def test_evidence_counts_only_where_its_bundle_lies_beside_the_rows(tmp_path):
    bundles = tmp_path / "rows.evidence"
    bundles.mkdir()
    digest = hashlib.sha256(b"bundle").hexdigest()
    (bundles / f"{digest}.zip").write_bytes(b"bundle")
    other = "a" * 64
    (bundles / f"{other}.zip").write_bytes(b"something else")
    (tmp_path / "outside.zip").write_bytes(b"bundle")
    named = [digest, other, "b" * 64, "", "../outside", "\x00"]
    one = standing(tmp_path, [row(f"p{n}", evidence=name) for n, name in enumerate(named)])
    (entry,) = one.entries
    assert entry.marks == {Mark.BESIDE: 1, Mark.MISSING: 4, Mark.NONE: 1}
    built(tmp_path, [row(evidence=name, problem=f"p{n}") for n, name in enumerate(named)])
    page = (tmp_path / "site" / "drawn" / "index.html").read_text()
    assert '<strong class="mark">1 of 6</strong>' in page
    assert "nobody can repeat them" in page


def test_cheats_stand_apart_from_honest_failures(tmp_path):
    rows = [
        row("p1", "good", 2.0),
        row("p1", "wrong", None),
        row("p1", "cheat", 90.0, result=told(None, "rejected", "cheating")),
        row("p1", "broken out", None, result=told(None, "rejected", "sandbox_violation")),
    ]
    built(tmp_path, rows)
    kinds = {entry["model"]: (entry["cheats"], entry["disputed"]) for entry in document(tmp_path)["entries"]}
    assert kinds == {"good": (0, 0), "wrong": (0, 0), "cheat": (1, 1), "broken out": (1, 0)}
    (page,) = (tmp_path / "site" / "drawn").glob("p1-*.html")
    parts = page.read_text().split('<section aria-labelledby="')
    told_in = {part.partition('"')[0]: part for part in parts[1:]}
    assert set(told_in) == {"measured", "right", "failed", "cheats"}
    assert "<b>good</b>" in told_in["right"]
    assert "<b>wrong</b>" in told_in["failed"]
    assert "<b>cheat</b>" in told_in["cheats"]
    assert "<b>broken out</b>" in told_in["cheats"]
    assert "Some scores count answers that whet rejects" in (tmp_path / "site" / "index.html").read_text()
    assert all(entry["outcomes"][0]["speedup"] is None for entry in document(tmp_path)["entries"] if entry["cheats"])


def test_a_problem_shows_diff_rungs_labels_and_the_way_to_repeat_it(tmp_path):
    built(tmp_path, [row(evidence="c" * 64), row("p1", "other", None)])
    (page,) = (tmp_path / "site" / "drawn").glob("p1-*.html")
    text = page.read_text()
    for part in (
        "<del>-    return sorted(xs)</del>",
        '<span class="label">vectorisation</span>',
        '<th scope="row">differential</th>',
        "<code>wrong_output</code>",
        "named, and not beside the rows",
        "wrong on case 3",
    ):
        assert part in text, part
    (data,) = (tmp_path / "site" / "drawn").glob("p1-*.json")
    answers = json.loads(data.read_text())["answers"]
    assert [answer["kind"] for answer in answers] == ["right", "failed"]
    assert answers[0]["told"]["candidate"]["diff"] == DIFF


def test_without_figures_of_the_suite_speedups_are_those_of_whets_verdicts(tmp_path):
    own = Own(True, "", {"seconds": 1.0}, "s", "clock")
    one = standing(tmp_path, [row("p1", own=own, result=told(4.0)), row("p2", own=own, result=None)])
    assert one.speedups == "whet's verdicts"
    assert [outcome.speedup for outcome in one.entries[0].outcomes.values()] == [4.0, None]


@pytest.mark.parametrize("speedup", [True, "9", -2.0, 0, 10**400, None, [3.0]])
def test_what_is_no_speedup_is_none(tmp_path, speedup):
    own = Own(True, "", {"speedup": speedup})
    rows = [row("p1", own=own, result=None), row("p2", own=own, result=None)]
    (entry,) = standing_of_right(tmp_path, rows).entries
    assert all(outcome.speedup is None and outcome.right == 1 for outcome in entry.outcomes.values())


def standing_of_right(folder, rows):
    class Right(Drawn):
        def score(self, rows):
            return super().score([row(one.problem, speedup=1.0) for one in rows])

    (one,) = standings(read_answers([written(rows, folder / "rows.jsonl")]), Right)
    return one


# drawings


def test_fast_p_is_the_share_of_problems_faster_than_p_failures_among_them(tmp_path):
    rows = [row("p1", speedup=3.0), row("p2", speedup=1.0), row("p3", speedup=None), row("p4", speedup=0.5)]
    rows += [row("p5", speedup=8.0), row("p5", speedup=None, sample=1), row("p6", excluded="broken", own=None)]
    (curve,) = charts.fast_p(standing(tmp_path, rows)).curves
    assert curve.n == 5
    found = dict(zip(charts.AT, curve.values, strict=True))
    assert {p: round(5 * share, 9) for p, share in found.items()} == {0: 3.5, 1: 1.5, 1.5: 1.5, 2: 1.5, 5: 0.5, 10: 0}
    assert curve.path.startswith("M0 300")
    assert curve.path.endswith("V1000H1000")


def test_the_spread_of_speedups_has_its_worst_its_quartiles_and_its_best(tmp_path):
    rows = [row(f"p{n}", speedup=float(n)) for n in range(1, 6)]
    (spread,) = charts.spreads(standing(tmp_path, rows)).spreads
    assert (spread.five, spread.n) == ((1.0, 2.0, 3.0, 4.0, 5.0), 5)


def test_cost_is_drawn_with_free_rows_at_the_left_and_unknown_prices_left_out(tmp_path):
    rows = [
        row(model="free", cost=Cost()),
        row(model="cheap", cost=Cost(0.01)),
        row(model="dear", cost=Cost(10.0), speedup=5.0),
        row(model="unknown", cost=Cost(3.0, False)),
    ]
    drawing = charts.score_against_cost(standing(tmp_path, rows))
    places = {dot.entry.model: dot for dot in drawing.dots}
    assert set(places) == {"free", "cheap", "dear"}
    assert places["free"].x == 0 < places["cheap"].x < places["dear"].x <= 100
    assert places["dear"].y < places["cheap"].y
    assert charts.score_against_cost(standing(tmp_path, rows[:1])).dots == ()


@pytest.mark.parametrize("extreme", [1e-300, 1e300])
def test_figures_beyond_all_measure_break_no_drawing(tmp_path, extreme):
    rows = [row("p1", "a", extreme), row("p2", "a", 2.0), row("p1", "b", 1e-12), row("p2", "b", 1e12)]
    built(tmp_path, rows)
    assert "NaN" not in (tmp_path / "site" / "drawn" / "index.html").read_text()


# pairs


def test_two_entries_are_compared_on_their_common_problems_alone(tmp_path):
    rows = [row(id, "a", speed) for id, speed in (("p1", 4.0), ("p2", 2.0), ("p3", None), ("p4", 100.0))]
    rows += [row(id, "b", speed) for id, speed in (("p1", 2.0), ("p2", None), ("p3", 1.0), ("p5", 50.0))]
    rows += [row("p6", "a", 7.0), row("p6", "b", excluded="no", own=None), row("p7", "a"), row("p7", "b", data="d2")]
    (pair,) = pairs(standing(tmp_path, rows))
    assert {place[0] for place in pair.common} == {"p1", "p2", "p3"}
    figures = dict(zip((pair.a.model, pair.b.model), pair.figures, strict=True))
    assert (figures["a"].value, figures["a"].n) == (2.0, 3)
    assert (figures["b"].value, figures["b"].n) == (1.0, 3)
    first = pair.a.model == "a"
    assert (pair.both, pair.only_a, pair.only_b, pair.timed) == (1, 1, 1, 1)
    assert pair.ratio == pytest.approx(2.0 if first else 0.5)
    assert (pair.low, pair.caution) == (None, "")


def test_the_interval_of_a_pair_is_that_of_the_mean_logarithm(tmp_path):
    rows = [row(f"p{n}", "a", 2.0 * 2**n) for n in range(3)] + [row(f"p{n}", "b", 1.0, machine=THERE) for n in range(3)]
    (pair,) = pairs(standing(tmp_path, rows))
    # Student's t for two degrees of freedom at 97.5 % is 4.3027; the logarithms' deviation is log 2.
    half = 4.302653 * math.log(2) / math.sqrt(3)
    sign = 1 if pair.a.model == "a" else -1
    assert pair.ratio == pytest.approx(4.0**sign)
    assert pair.high == pytest.approx(math.exp(sign * math.log(4) + half), rel=1e-5)
    assert "different machines" in pair.caution


def test_rows_without_a_common_problem_have_no_figures(tmp_path):
    built(tmp_path, [row("p1", "a"), row("p2", "b")])
    (pair,) = document(tmp_path)["pairs"]
    assert (pair["common"], pair["scores"], pair["ratio"]) == (0, None, None)


# what is read and written


def test_the_documents_name_each_other_and_the_pages(tmp_path):
    built(tmp_path, many(5, 3))
    board = document(tmp_path, "board.json")
    assert (board["schema"], board["newest"]) == ("whet.board/1", "2026-11-20T10:00:00+00:00")
    (suite,) = board["suites"]
    assert (tmp_path / "site" / suite["page"]).is_file()
    data = document(tmp_path, suite["data"])
    assert data["schema"] == "whet.board.suite/1"
    assert len(data["problems"]) == suite["problems"] == 5
    for problem in data["problems"]:
        own = json.loads((tmp_path / "site" / "drawn" / problem["data"]).read_text())
        assert (own["schema"], own["id"]) == ("whet.board.problem/1", problem["id"])
        assert (tmp_path / "site" / "drawn" / problem["page"]).is_file()


def test_the_same_rows_give_the_same_bytes(tmp_path):
    def site():
        built(tmp_path, many(4, 3))
        return {path: path.read_bytes() for path in (tmp_path / "site").rglob("*") if path.is_file()}

    assert site() == site()


def test_of_two_rows_for_one_answer_the_later_counts(tmp_path):
    first = written([row(speedup=2.0)], tmp_path / "a.jsonl")
    second = written([row(speedup=5.0, when="2026-11-21T10:00:00+00:00")], tmp_path / "b.jsonl")
    for files in ([first, second], [second, first]):
        found = build(files, tmp_path / "site", Drawn)
        assert document(tmp_path)["entries"][0]["score"]["figures"][0]["value"] == 5.0
        assert len(found.faults) == 1


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"seconds": math.inf}, "is none"),
        ({"cost": Cost(-1.0)}, "is none"),
        ({"answer": "x" * (5 << 20)}, "larger than 4 MiB"),
        ({"own": Own(True, "", {"speedup": 77777.5})}, "not JSON compliant"),
        ({"result": told(2.0, schema="whet.result/9")}, "another schema"),
        ({"result": told(2.0, speedup={"ratio": 2.0, "metric": "time"})}, "result.speedup.low"),
        ({"result": told(2.0, rungs=[{"name": "build", "status": "fine"}])}, "result.rungs.0.status"),
    ],
)
def test_a_row_that_cannot_be_is_left_out_and_told(tmp_path, change, said):
    file = written([row("p1"), row("p2", **change)], tmp_path / "rows.jsonl")
    file.write_text(file.read_text().replace("Infinity", "1e999").replace("77777.5", "1e999"))
    found = build([file], tmp_path / "site", Drawn)
    (fault,) = found.faults
    assert said in fault
    assert len(document(tmp_path)["problems"]) == 1
    assert "1 row could not be read" in (tmp_path / "site" / "index.html").read_text()


def test_what_cannot_be_built_is_one_clear_error(tmp_path):
    empty = tmp_path / "empty.jsonl"
    empty.write_text("")
    with pytest.raises(UsageError, match="no rows"):
        build([empty], tmp_path / "site", Drawn)
    with pytest.raises(UsageError, match="cannot be read"):
        build([tmp_path / "missing.jsonl"], tmp_path / "site", Drawn)

    class Broken(Drawn):
        def score(self, rows):
            return rows[0].own.figures["never there"]

    with pytest.raises(UsageError, match="drawn cannot score the rows of 'openai:one': KeyError"):
        built(tmp_path, [row()], Broken)
    assert not (tmp_path / "site").exists()


def test_a_board_is_replaced_and_anything_else_is_left_alone(tmp_path):
    built(tmp_path, [row("p1")])
    built(tmp_path, [row("p2")])
    assert not list((tmp_path / "site" / "drawn").glob("p1-*"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rows.jsonl", "site"]
    other = tmp_path / "other"
    other.mkdir()
    (other / "thesis.txt").write_text("years of work")
    with pytest.raises(UsageError, match="something else"):
        build([tmp_path / "rows.jsonl"], other, Drawn)
    assert (other / "thesis.txt").read_text() == "years of work"


def test_names_of_problems_become_names_of_files_that_stay_where_they_are(tmp_path):
    hostile = ["../../up", "index", "data", "a/b", "A/B", "", ".", "x" * 500, "\x00", "nul\u2028", "compare", "é", "e"]
    rows = [row(name) for name in hostile]
    built(tmp_path, rows)
    found = sorted(path.relative_to(tmp_path / "site").as_posix() for path in (tmp_path / "site").rglob("*.html"))
    assert len(found) == 3 + len(hostile)
    assert all(len(name) < 80 and name.isascii() for name in found)
    assert len({slug(name) for name in hostile}) == len(hostile)


@pytest.mark.corpus
def test_a_large_board_stays_light(tmp_path, capsys):
    start = time.process_time()
    built(tmp_path, many(250, 10))
    spent = time.process_time() - start
    weights = {
        name: (tmp_path / "site" / name).stat().st_size
        for name in ("index.html", "drawn/index.html", "drawn/compare.html")
    }
    with capsys.disabled():
        print(f"\n250 problems x 10 rows: {spent:.1f} s of CPU, {weights}")
    assert max(weights.values()) < LIMIT
    problems = [path.stat().st_size for path in (tmp_path / "site" / "drawn").glob("level*.html")]
    assert len(problems) == 250
    assert max(problems) < LIMIT


@pytest.mark.corpus(one_in=8)
def test_a_problem_with_many_large_answers_stays_light(tmp_path):
    text = "".join(f"+    line {n} \N{PILE OF POO}'<&\n" for n in range(4000))
    large = told(2.0)
    large["candidate"]["diff"] = "--- a\n+++ b\n" + text
    built(tmp_path, [row(sample=n, result=large if n % 2 else None, answer=text) for n in range(60)])
    (page,) = (tmp_path / "site" / "drawn").glob("p1-*.html")
    assert page.stat().st_size < 2 * LIMIT
    assert "further lines left out" in page.read_text()


# on this machine


@pytest.fixture
def served(tmp_path):
    built(tmp_path, [row()])
    with serving(tmp_path / "site", 0) as (server, address):
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        port = server.server_address[1]

        def get(path, method="GET", host=None):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
            connection.request(method, path, headers={"Host": host or f"127.0.0.1:{port}"})
            answer = connection.getresponse()
            return answer, answer.read()

        yield get, address
        server.shutdown()
        thread.join()


def test_the_server_gives_out_the_site(served, tmp_path):
    get, address = served
    assert address.startswith("http://127.0.0.1:")
    answer, body = get("/")
    assert (answer.status, body) == (200, (tmp_path / "site" / "index.html").read_bytes())
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    answer, body = get("/drawn/data.json")
    assert answer.headers["Content-Type"] == "application/json"
    assert json.loads(body)["suite"] == "drawn"


def test_the_server_gives_out_nothing_else(served, tmp_path):
    get, _ = served
    (tmp_path / "secret").write_text("hunter2")
    (tmp_path / "site" / "link").symlink_to(tmp_path / "secret")
    (tmp_path / "site" / "folder").mkdir()
    for path in ("/link", "/../secret", "/%2e%2e/secret", "/folder/", "/nothing"):
        answer, body = get(path)
        assert (answer.status, b"hunter2" in body) == (404, False), path
    assert get("/", host="evil.example:80")[0].status == 403
    assert get("/", method="POST")[0].status == 501


def test_only_a_board_is_served(tmp_path):
    assert not is_board(tmp_path)
    (tmp_path / "board.json").write_text("[" * 100_000)
    with pytest.raises(UsageError, match="no leaderboard"), serving(tmp_path, 0):
        pass


def test_a_port_that_is_taken_is_told(served, tmp_path):
    _, address = served
    with pytest.raises(UsageError, match="cannot be had"), serving(tmp_path / "site", int(address.split(":")[2][:-1])):
        pass


def test_the_command_ends_with_ctrl_c(tmp_path):
    built(tmp_path, [row()])
    command = [sys.executable, "-m", "whet", "board", "serve", str(tmp_path / "site"), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline().startswith("http://127.0.0.1:")
        process.send_signal(signal.SIGINT)
        said, complained = process.communicate(timeout=20)
    assert (process.returncode, complained, said.strip()) == (0, "", "")


@pytest.mark.corpus(one_in=8)
def test_the_command_names_what_is_wrong_in_one_line(whet, tmp_path):
    written([row(suite="drwan")], tmp_path / "rows.jsonl")
    for words in (("build", tmp_path / "rows.jsonl"), ("build", tmp_path / "none"), ("serve", tmp_path)):
        done = whet("board", *words, cwd=tmp_path)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
