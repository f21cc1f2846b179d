"""Campaigns: results are kept through a kill, hold for one commit and machine, and decide the exit code."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from paths import TESTS

from whet.benchmarks.self.campaigns import pages, place
from whet.benchmarks.self.campaigns.attacks import Attacks
from whet.benchmarks.self.campaigns.campaign import (
    Item,
    ItemResult,
    Measure,
    Record,
    Status,
    chosen,
    default_file,
    digest,
    failed,
    read,
    run,
)
from whet.benchmarks.self.campaigns.exploits import Exploits
from whet.benchmarks.self.campaigns.place import CampaignProvenance
from whet.benchmarks.self.campaigns.registry import NAMES, make
from whet.cli import bench_self
from whet.cli.errors import Invocation
from whet.core.errors import BaselineError, UsageError
from whet.testing.exploits.corpus import PLAYED, TIMED, exploits

HERE = CampaignProvenance(
    "2026-01-02T03:04:05+00:00", "a" * 40, False, "b", "a cpu", "x86_64", 2, 2**33, "6.1", "Linux", False, True
)


class Scripted:
    """A campaign of which each item does what is scripted; it counts what is measured."""

    name = "scripted"
    seed = 1

    def __init__(self, items: Sequence[Item], does: Callable[[str], ItemResult], asked: Sequence[str] = ()) -> None:
        self.items = tuple(items)
        self.asked = chosen(self.items, asked)
        self.measured: list[str] = []
        self._does = does

    @contextmanager
    def opened(self) -> Iterator[Measure]:
        def measure(item: Item) -> ItemResult:
            self.measured.append(item.id)
            return self._does(item.id)

        yield measure

    def table(self, records: Sequence[Record]) -> Iterator[str]:
        for record in records:
            yield f"| {record.id} | {record.status} | {record.facts.get('figure', '')} |"


ITEMS = tuple(map(Item, "abc"))


def right(id: str) -> ItemResult:
    return ItemResult(Status.RIGHT, f"{id} is well", {"figure": ord(id)})


def stops_at(name: str) -> Callable[[str], ItemResult]:
    def does(id: str) -> ItemResult:
        if id == name:
            raise KeyboardInterrupt
        return right(id)

    return does


def ran(campaign: Scripted, file: Path, where: CampaignProvenance = HERE) -> list[str]:
    return list(run(campaign, file, where))


def test_each_item_has_a_line_and_the_table_comes_last(tmp_path: Path) -> None:
    lines = ran(Scripted(ITEMS, right), tmp_path / "new" / "r.json")
    assert lines[0] == "scripted: 3 items, 0 of them finished before"
    assert lines[2:5] == [f"[{n}/3] right: {id}: {id} is well" for n, id in enumerate("abc", 1)]
    assert lines[6:9] == ["| a | right | 97 |", "| b | right | 98 |", "| c | right | 99 |"]
    assert lines[-1] == f"3 right, 0 wrong, 0 missing; results in {tmp_path / 'new' / 'r.json'}"


def test_what_is_interrupted_goes_on_where_it_was(tmp_path: Path) -> None:
    file = tmp_path / "r.json"
    with pytest.raises(KeyboardInterrupt):
        ran(Scripted(ITEMS, stops_at("c")), file)
    again = Scripted(ITEMS, right)
    assert ran(again, file)[0] == "scripted: 3 items, 2 of them finished before"
    assert again.measured == ["c"]
    once_more = Scripted(ITEMS, right)
    ran(once_more, file)
    assert once_more.measured == []


KILLED = """\
import os, signal, sys
from pathlib import Path
sys.path[:0] = [sys.argv[2], sys.argv[2] + "/benchmarks"]
from test_campaigns import HERE, ITEMS, Scripted, ran, right
def does(id):
    if id == "c":
        os.kill(os.getpid(), signal.SIGKILL)
    return right(id)
ran(Scripted(ITEMS, does), Path(sys.argv[1]))
"""


@pytest.mark.corpus(one_in=8)
def test_a_kill_loses_nothing_that_was_finished(tmp_path: Path) -> None:
    file = tmp_path / "r.json"
    command = [sys.executable, "-c", KILLED, str(file), str(TESTS)]
    assert subprocess.run(command, check=False, timeout=60).returncode == -signal.SIGKILL
    assert [record.id for record in read(file).records] == ["a", "b"]
    again = Scripted(ITEMS, right)
    ran(again, file)
    assert again.measured == ["c"]
    assert [path.name for path in tmp_path.iterdir()] == ["r.json"]


@pytest.mark.parametrize(
    "elsewhere",
    [
        replace(HERE, commit="c" * 40),
        replace(HERE, dirty=True),
        replace(HERE, sources="edited"),
        replace(HERE, cpu="another"),
        replace(HERE, kernel="6.2"),
    ],
)
def test_another_commit_or_machine_begins_anew(elsewhere: CampaignProvenance, tmp_path: Path) -> None:
    ran(Scripted(ITEMS, right), tmp_path / "r.json")
    again = Scripted(ITEMS, right)
    ran(again, tmp_path / "r.json", elsewhere)
    assert again.measured == ["a", "b", "c"]
    assert read(tmp_path / "r.json").place.lasting == elsewhere.lasting


def test_another_day_does_not_begin_anew(tmp_path: Path) -> None:
    ran(Scripted(ITEMS, right), tmp_path / "r.json")
    again = Scripted(ITEMS, right)
    ran(again, tmp_path / "r.json", replace(HERE, date="2026-02-01T00:00:00+00:00"))
    assert again.measured == []


def test_an_item_whose_files_changed_is_measured_anew_and_the_others_are_not(tmp_path: Path) -> None:
    ran(Scripted(ITEMS, right), tmp_path / "r.json")
    changed = Scripted((Item("a"), Item("b", "other files"), Item("c")), right)
    ran(changed, tmp_path / "r.json")
    assert changed.measured == ["b"]


def test_items_that_nobody_asks_for_now_stay_in_the_file(tmp_path: Path) -> None:
    ran(Scripted(ITEMS, right), tmp_path / "r.json")
    some = Scripted(ITEMS, right, asked=["b"])
    lines = ran(some, tmp_path / "r.json")
    assert some.measured == []
    assert [line for line in lines if line.startswith("|")] == ["| b | right | 98 |"]
    assert [record.id for record in read(tmp_path / "r.json").records] == ["a", "b", "c"]


def test_a_digest_is_that_of_names_and_contents(tmp_path: Path) -> None:
    (tmp_path / "one").write_text("1")
    first = digest(tmp_path)
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__" / "x.pyc").write_text("compiled")
    assert digest(tmp_path) == first
    (tmp_path / "one").write_text("2")
    second = digest(tmp_path)
    (tmp_path / "one").rename(tmp_path / "two")
    assert len({first, second, digest(tmp_path)}) == 3


def test_the_file_states_date_machine_and_commit(tmp_path: Path) -> None:
    ran(Scripted(ITEMS, right), tmp_path / "r.json")
    plain = json.loads((tmp_path / "r.json").read_text())
    assert plain["schema"] == "whet.campaign/1"
    assert (plain["campaign"], plain["seed"]) == ("scripted", 1)
    assert plain["counts"] == {"right": 3, "wrong": 0, "missing": 0}
    assert plain["place"]["date"] == plain["records"][-1]["when"]
    kept = {**plain["place"], "date": HERE.date}
    assert CampaignProvenance(**kept) == HERE
    assert "a cpu, 2 cores, 8 GiB, Linux, Linux 6.1, without hardware counters, with cgroup v2" in str(HERE)
    assert str(replace(HERE, dirty=True)).endswith("commit aaaaaaaaaaaa (dirty)")


@pytest.mark.corpus(one_in=8)
def test_this_place_is_described() -> None:
    here = place.this_place()
    assert here.cores == len(os.sched_getaffinity(0))
    assert here.kernel == os.uname().release
    assert here.lasting == place.this_place().lasting


def test_what_is_missing_is_tried_again_and_what_is_wrong_stays_wrong(tmp_path: Path) -> None:
    def does(id: str) -> ItemResult:
        return {
            "a": right(id),
            "b": ItemResult(Status.MISSING, "no engine", {}),
            "c": ItemResult(Status.WRONG, "it got through", {}),
        }[id]

    first, file = Scripted(ITEMS, does), tmp_path / "r.json"
    assert ran(first, file)[-1].startswith("1 right, 1 wrong, 1 missing")
    assert failed(first, file)
    again = Scripted(ITEMS, right)
    assert ran(again, file)[-2:] == ["wrong: c: it got through", f"2 right, 1 wrong, 0 missing; results in {file}"]
    assert again.measured == ["b"]
    assert failed(again, file)
    assert not failed(Scripted(ITEMS, right, asked=["a", "b"]), file)


def test_a_baseline_that_cannot_be_used_is_wrong_and_the_rest_goes_on(tmp_path: Path) -> None:
    def does(id: str) -> ItemResult:
        if id == "a":
            raise BaselineError("it fails its own tests", "own_tests")
        return right(id)

    campaign = Scripted(ITEMS, does)
    assert "[1/3] wrong: a: it fails its own tests" in ran(campaign, tmp_path / "r.json")
    assert campaign.measured == ["a", "b", "c"]


@pytest.mark.parametrize("text", ["not JSON", "[]", '{"schema": "whet.result/1"}', '{"schema": "whet.campaign/1"}'])
def test_a_file_of_something_else_is_refused_before_anything_is_measured(text: str, tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text(text)
    campaign = Scripted(ITEMS, right)
    with pytest.raises(UsageError, match="holds no results of a campaign"):
        ran(campaign, tmp_path / "r.json")
    assert campaign.measured == []
    assert (tmp_path / "r.json").read_text() == text


def test_a_file_of_another_campaign_is_refused(tmp_path: Path) -> None:
    ran(Scripted(ITEMS, right), tmp_path / "r.json")
    with pytest.raises(UsageError, match="holds results of scripted, not of attacks"):
        list(run(Attacks(), tmp_path / "r.json", HERE))


def test_every_campaign_has_distinct_items_and_a_page_with_its_marks() -> None:
    assert set(NAMES) == set(bench_self.CAMPAIGNS) == set(pages.PAGES)
    for name in NAMES:
        campaign = make(name)
        assert campaign.name == name
        ids = [item.id for item in campaign.items]
        assert ids
        assert len(ids) == len(set(ids))
        shown = pages.PAGES[name].read_text(encoding="utf-8")
        assert [shown.count(mark) for mark in pages.marks(name)] == [1, 1], name


@pytest.mark.parametrize("name", NAMES)
def test_an_unknown_item_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match=r"there is no (item|exploit) 'nothing-like-it'"):
        make(name, ("nothing-like-it",))


def test_a_seed_makes_other_keys_and_the_attacks_have_none(tmp_path: Path) -> None:
    assert make("mutants", (), 7).seed == 7
    with pytest.raises(UsageError, match="--seed goes with the campaigns"):
        make("attacks", (), 7)
    first, file = Scripted(ITEMS, right), tmp_path / "r.json"
    ran(first, file)
    other = Scripted(ITEMS, right)
    other.seed = 2
    ran(other, file)
    assert other.measured == ["a", "b", "c"]


def test_exploits_are_asked_for_by_row_name_and_side_and_by_default_what_is_timed() -> None:
    played = [exploit for exploit in exploits() if exploit.outcome in PLAYED]
    timed = {f"{e.name}:{s}" for e in played for s in ("cheat", "twin") if e.last_rung(s) in TIMED}
    assert {item.id for item in Exploits().asked} == timed
    assert len(Exploits(("all",)).asked) == 2 * len(played)
    assert {item.id for item in Exploits(("66",)).asked} > {"66-threads-on-two-cores:cheat"}
    assert [item.id for item in Exploits(("18-identity-replay:cheat",)).asked] == ["18-identity-replay:cheat"]
    assert len(Exploits(("18-identity-replay",)).asked) == 2


SIDE = "18-identity-replay:cheat"


def command(file: Path) -> int:
    return bench_self.measure_self(SimpleNamespace(obj=Invocation()), "exploits", ids=SIDE, results=file)


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
@pytest.mark.corpus(one_in=8)
def test_a_side_is_played_by_the_command_and_not_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "r.json"
    assert command(file) == 0
    assert f"[1/1] right: {SIDE}: differential" in capsys.readouterr().out
    (record,) = read(file).records
    facts = dict(record.facts)
    assert (facts["rung"], facts["retries"], facts["speedup"]) == ("differential", 0, None)
    before = file.read_bytes()
    assert command(file) == 0
    told = capsys.readouterr().out
    assert told.startswith("exploits: 1 items, 1 of them finished before")
    assert f"| {SIDE} | right | differential |" in told
    assert file.read_bytes() == before


@pytest.mark.corpus(one_in=8)
def test_a_wrong_item_ends_the_command_with_1(tmp_path: Path) -> None:
    class Planted(Exploits):
        @contextmanager
        def opened(self) -> Iterator[Measure]:
            yield lambda item: ItemResult(Status.WRONG, "planted", {})

    list(run(Planted((SIDE,)), tmp_path / "r.json", place.this_place()))
    assert command(tmp_path / "r.json") == 1


def test_a_campaign_lies_under_the_state_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WHET_HOME", str(tmp_path))
    assert default_file("timing") == tmp_path / "campaigns" / "timing.json"


INTERRUPTED = """\
import signal, sys
from pathlib import Path
tests = sys.argv.pop(1)
sys.path[:0] = [tests, tests + "/benchmarks"]
from test_campaigns import ITEMS, Scripted, stops_at
from whet.benchmarks.self.campaigns import registry
from whet.cli.main import main
registry.make = lambda *_: Scripted(ITEMS, stops_at("b"))
sys.argv[0] = "whet"
sys.exit(main())
"""


@pytest.mark.corpus(one_in=8)
def test_an_interrupt_ends_with_the_command_that_goes_on(tmp_path: Path) -> None:
    words = ["bench", "self", "exploits", "--results", str(tmp_path / "r.json")]
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, str(TESTS), *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 130
    assert "[1/3] right: a" in done.stdout
    assert done.stderr.splitlines() == [f"interrupted; resume with: whet {' '.join(words)}"]
    assert [record.id for record in read(tmp_path / "r.json").records] == ["a"]


@pytest.mark.corpus(one_in=8)
def test_a_page_is_written_from_all_of_a_campaign_and_from_no_part_of_one(tmp_path: Path) -> None:
    class ScriptedAttacks(Attacks):
        @contextmanager
        def opened(self) -> Iterator[Measure]:
            yield lambda item: ItemResult(Status.RIGHT, "", {"rows": [{"off": [], "escaped": False}]})

    begin, end = pages.marks("attacks")
    page = tmp_path / "page.md"
    page.write_text(f"before\n{begin}\nold\n{end}\nafter\n")
    list(run(ScriptedAttacks(("bubblewrap:fork-bomb",)), tmp_path / "some.json", HERE))
    with pytest.raises(UsageError, match="items of attacks were not measured"):
        pages.write(tmp_path / "some.json", page)
    list(run(ScriptedAttacks(), tmp_path / "all.json", HERE))
    pages.write(tmp_path / "all.json", page)
    written = page.read_text()
    assert written.startswith(f"before\n{begin}\nMeasured on ")
    assert "a cpu, 2 cores" in written
    assert "commit aaaaaaaaaaaa" in written
    assert "| fork-bomb |" in written
    assert written.endswith(f"{end}\nafter\n")
