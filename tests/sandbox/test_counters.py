"""Counters: a figure, or the reason for having none."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.cli.machine import counters as findings
from whet.core.counter import Counter, counted, missing
from whet.sandbox.counters import nvml, perf, rapl, rusage, valgrind
from whet.sandbox.counters.process import Silent, run
from whet.sandbox.counters.registry import PROBES, survey

RECORDED = """\
# written by hand in the form of `perf stat -j`, as a machine with hardware counters would give it: not a measurement

{"counter-value" : "1234567.000000", "unit" : "", "event" : "instructions:u", "pcnt-running" : 75.0}
{"counter-value" : "<not supported>", "unit" : "", "event" : "cycles", "event-runtime" : 0, "pcnt-running" : 100.00}
{"counter-value" : "<not counted>", "unit" : "", "event" : "cache-misses", "event-runtime" : 0, "pcnt-running" : 0.00}
{"counter-value" : "0.531819", "unit" : "msec", "event" : "task-clock", "pcnt-running" : 100.0}
{"metric-value" : 0.5, "metric-unit" : "CPUs utilized"}
"""
# written by hand, in the form of a cachegrind report
REPORT = """\
desc: I1 cache: 32768 B, 64 B, 8-way associative
cmd: ./program
events: Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw Bc Bcm Bi Bim
fl=a.c
fn=main
3 10 0 0 0 0 0 0 0 0 0 0 0 0
summary: 1000 9 8 300 7 6 200 5 4 100 30 20 2
"""
needs_perf = pytest.mark.skipif(shutil.which("perf") is None, reason="perf is not installed")
needs_valgrind = pytest.mark.skipif(shutil.which("valgrind", path="/usr/bin") is None, reason="valgrind is missing")


def by_name(found: tuple[Counter, ...]) -> dict[str, Counter]:
    return {counter.name: counter for counter in found}


@pytest.mark.parametrize(
    ("value", "available", "reason"), [(None, True, ""), (0.0, False, "why"), (1.0, True, "why"), (None, False, "")]
)
def test_a_counter_is_either_there_or_says_why_not(value: float | None, available: bool, reason: str) -> None:
    with pytest.raises(ValueError, match="either a value or a reason"):
        Counter("x", value, "", "perf", False, available, reason)


def test_a_figure_of_zero_is_a_figure() -> None:
    assert counted("x", 0, "", "perf").available
    assert missing("x", "", "perf", "why").value is None


def test_recorded_perf_output_is_read() -> None:
    found = by_name(perf.parse(RECORDED))
    assert found["instructions"].value == 1234567
    assert found["task-clock"] == counted("task-clock", 0.531819, "ms", "perf")
    assert (found["cycles"].value, found["cache-misses"].value) == (None, None)
    assert "no such counter" in found["cycles"].reason
    assert "never scheduled" in found["cache-misses"].reason


@given(st.text())
def test_reports_out_of_form_give_no_figures(text: str) -> None:
    assert not any(counter.available for counter in valgrind.parse(text))
    assert not any(counter.available for counter in perf.parse(text))


@needs_perf
def test_software_events_are_counted_by_the_same_code_as_hardware_events() -> None:
    found = by_name(perf.probe())
    assert tuple(found) == (*perf.HARDWARE, *perf.SOFTWARE)
    faults = found["page-faults"]
    assert (faults.value or 0) > 0 or faults.reason
    for counter in found.values():
        assert counter.available or counter.reason


@needs_perf
def test_an_event_that_perf_does_not_know_gives_a_reason_not_zero() -> None:
    (found,) = perf.count(["/bin/true"], ("no-such-event",))
    assert found.value is None
    assert "perf ended with" in found.reason


def test_cachegrind_totals_are_summed_by_meaning() -> None:
    assert [counter.value for counter in valgrind.parse(REPORT)] == [1000, 12, 18, 32]


def test_what_was_not_simulated_has_no_figure() -> None:
    found = by_name(valgrind.parse("events: Ir\nsummary: 42\n"))
    assert found["instructions"].value == 42
    assert found["simulated-branch-misses"].reason == "it was not simulated"


def test_a_report_that_was_cut_has_no_instructions() -> None:
    for cut in ("events: Ir\n", "events: Ir\nsummary: many\n"):
        assert not by_name(valgrind.parse(cut))["instructions"].available


@needs_valgrind
def test_the_same_run_has_the_same_instructions() -> None:
    first, second = by_name(valgrind.probe()), by_name(valgrind.probe())
    assert first["instructions"].deterministic
    assert (first["instructions"].value or 0) > 10_000
    assert first["instructions"].value == pytest.approx(second["instructions"].value, rel=1e-3)


def test_a_process_that_ended_tells_its_memory() -> None:
    found = by_name(rusage.probe())
    assert (found["peak-memory"].value or 0) > 100_000
    assert found["cpu-seconds"].unit == "s"


def meters(root: Path, **values: int) -> Path:
    for name, value in values.items():
        folder = root / f"intel-rapl:{name[1:]}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "energy_uj").write_text(f"{value}\n")
        (folder / "max_energy_range_uj").write_text("1000000\n")
    return root


def test_energy_is_summed_over_packages_and_a_meter_may_begin_again(tmp_path: Path) -> None:
    before = rapl.read(meters(tmp_path, p0=900_000, p1=100_000))
    after = rapl.read(meters(tmp_path, p0=100_000, p1=400_000))
    assert rapl.joules(before, after, tmp_path) == pytest.approx(0.5)
    assert not rapl.lacking(tmp_path)


def test_parts_of_a_package_are_not_counted_twice(tmp_path: Path) -> None:
    (meters(tmp_path, p0=5) / "intel-rapl:0:0").mkdir()
    assert rapl.read(tmp_path) == {"intel-rapl:0": 5}


def test_no_meter_has_a_reason(tmp_path: Path) -> None:
    (counter,) = rapl.probe(tmp_path)
    assert not counter.available
    assert str(tmp_path) in counter.reason


def test_a_meter_that_holds_no_number_has_a_reason(tmp_path: Path) -> None:
    (meters(tmp_path, p0=5) / "intel-rapl:0" / "energy_uj").write_text("soon")
    assert "no number" in rapl.lacking(tmp_path)


@pytest.mark.skipif(importlib.util.find_spec("pynvml") is not None, reason="nvidia-ml-py is installed")
def test_without_its_library_a_gpu_has_a_reason() -> None:
    assert all("pip install nvidia-ml-py" in counter.reason for counter in nvml.probe())


def test_a_tool_that_is_not_there_is_silent() -> None:
    with pytest.raises(Silent, match="cannot be started"):
        run(["/no/such/tool"])


def test_every_source_answers_and_the_doctor_tells_each() -> None:
    readings = survey()
    assert list(readings) == list(PROBES)
    told = list(findings(readings))
    for source, found in readings.items():
        assert found
        assert all(counter.source == source for counter in found)
        assert any(finding.name == f"counters:{source}" for finding in told)
    for finding in told:
        assert finding.available or (finding.reason and finding.costs)


@needs_perf
def test_other_processes_are_counted_from_outside_only_while_they_work() -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", "input(); x = b'1' * (40 << 20); print(); input()"], text=True, stdin=-1, stdout=-1
    )
    assert child.stdin is not None
    assert child.stdout is not None

    def work() -> None:
        child.stdin.write("\n")
        child.stdin.flush()
        child.stdout.readline()

    (faults,) = perf.count_others([child.pid], work, ("page-faults",))
    child.communicate("\n")
    assert (faults.value or 0) > 9000 or faults.reason
