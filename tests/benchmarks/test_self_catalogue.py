"""``whet bench self catalogue``: a task end to end, what rows come to, and results that are kept."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace

import pytest
from paths import ROOT

from whet.agents.catalogue import page
from whet.benchmarks.self.catalogue import Row, asked_tasks, document, measured, optimized, report, totals
from whet.benchmarks.tasks import held_out_names, task_folder, task_names, task_note
from whet.cli import bench_self
from whet.cli.errors import Invocation
from whet.core.errors import UsageError
from whet.core.plain import to_plain
from whet.core.result import Status

CONTEXT = SimpleNamespace(obj=Invocation())
WON = Row(
    task="dedup-events",
    reach="local",
    status=Status.IMPROVED,
    speedup=(8.123, 8.0, 8.2),
    edits=("list-membership", "loop-to-comprehension+hoist-lookup"),
    again=Status.IMPROVED,
    again_speedup=(8.2, 8.1, 8.3),
    best="13.3x (6.97 to 36.7)",
    judged=6,
    seconds=31.5,
    message="the last round is done",
)
LOST = replace(
    WON, task="job-queue", status=Status.NO_IMPROVEMENT, speedup=None, edits=(), again=None, again_speedup=None
)


@pytest.mark.corpus
@pytest.mark.timed
def test_a_task_is_improved_and_its_winner_holds_afresh():
    row = optimized("dedup-events", task_folder("dedup-events"), rounds=1, candidates=1)
    assert (row.task, row.reach, row.status, row.judged) == ("dedup-events", "local", Status.IMPROVED, 1)
    assert row.speedup is not None
    assert row.speedup[0] > 2
    assert row.edits[0] == "list-membership"
    assert row.again is Status.IMPROVED
    assert row.again_speedup != row.speedup


def test_the_page_of_the_edits_is_current():
    shown = ROOT / "docs" / "edits.md"
    assert shown.read_text(encoding="utf-8") == page.page(), "python -m whet.agents.catalogue.page > docs/edits.md"


def test_tasks_within_reach_and_those_held_out_are_asked():
    local = [name for name in asked_tasks() if name in task_names()]
    assert local
    assert {task_note(name).reach for name in local} == {"local"}
    assert set(asked_tasks()) - set(local) == set(held_out_names())


def test_totals_tell_false_wins_by_name():
    wrong = replace(WON, task="tidy-text", again=Status.REJECTED, again_speedup=None)
    slow = replace(WON, task="log-report", again=Status.NO_IMPROVEMENT, again_speedup=(0.99, 0.97, 1.005))
    unclear = replace(WON, task="assemble", again=Status.NO_IMPROVEMENT, again_speedup=(1.03, 0.96, 1.08))
    held_out = replace(WON, task="other", reach="held out")
    within, without, judged, open_, candidates = totals([WON, LOST, wrong, slow, unclear, held_out])
    assert within.startswith("improved within reach: 4 of 5: 80.0 %")
    assert without.startswith("improved of those held out: 1 of 1: 100.0 %")
    assert judged == "winners judged afresh: 5; wrong: 1 (tidy-text); not faster: 1 (log-report); goal 0"
    assert open_ == "neither shown to be faster again nor not to be: 1 (assemble)"
    assert candidates == "candidates judged: 36"


def kept(tmp_path, *rows: Row):
    file = tmp_path / "results.json"
    file.write_text(json.dumps({"rows": [to_plain(row) for row in rows]}))
    return file


def test_what_was_found_is_not_run_again(tmp_path):
    file = kept(tmp_path, WON, LOST)
    before = file.read_bytes()
    assert list(measured(["job-queue", "dedup-events"], file)) == [LOST, WON]
    assert file.read_bytes() == before


def test_the_report_has_a_line_a_task(tmp_path):
    _, _, won, lost, blank, *_ = report(["dedup-events", "job-queue"], kept(tmp_path, WON, LOST))
    assert won == (
        "| dedup-events | local | improved | 8.12x (8x to 8.2x) | list-membership, loop-to-comprehension + hoist-lookup"
        " | improved, 8.2x (8.1x to 8.3x) | 13.3x (6.97 to 36.7) | 6 |"
    )
    assert lost.startswith("| job-queue | local | no_improvement |  |  |  |")
    assert blank == ""
    found = document(["dedup-events"], kept(tmp_path, WON))
    assert found["rows"][0]["speedup"] == [8.123, 8.0, 8.2]
    assert found["schema"] == "whet.bench.catalogue/1"


def test_an_unknown_task_or_a_file_of_something_else_is_refused_before_anything_runs(tmp_path):
    with pytest.raises(UsageError, match="no task 'dedup-event'; did you mean 'dedup-events'"):
        next(report(["dedup-event"]))
    file = tmp_path / "other.json"
    for text in ("not JSON", "[]", '{"rows": [{"task": 1}]}'):
        file.write_text(text)
        with pytest.raises(UsageError, match="holds no results of whet bench self catalogue"):
            next(report(["dedup-events"], file))


def test_the_command_takes_ids_and_kept_results(tmp_path, capsys):
    file = kept(tmp_path, WON, LOST)
    assert bench_self.measure_self(CONTEXT, "catalogue", ids="job-queue", results=file, as_json=True) == 0
    assert [row["task"] for row in json.loads(capsys.readouterr().out)["rows"]] == ["job-queue"]
    assert bench_self.measure_self(CONTEXT, "catalogue", ids="dedup-events,job-queue", results=file) == 0
    assert "improved within reach: 1 of 2" in capsys.readouterr().out
    with pytest.raises(UsageError, match="goes with the reports asm, catalogue, kernels, packages and scale"):
        bench_self.measure_self(CONTEXT, "loop", ids="job-queue")
