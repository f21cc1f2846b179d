"""KernelBench's problems, its own rule, its scores and its files, on problems of our own making."""

from __future__ import annotations

import json
import shutil
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from kernel_problems import IMPORTS, forward, problem
from test_bench_rows import row

from whet.benchmarks.lab.base import Lab
from whet.benchmarks.results import Own
from whet.benchmarks.suites.base import Unusable
from whet.benchmarks.suites.kernelbench import SUITE
from whet.benchmarks.suites.kernelbench_results import speedup_of
from whet.core.errors import UsageError
from whet.core.options import Options

sandboxed = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")

SQUARE = problem(forward("return torch.pow(x, 2) + 1"))
RIGHT = SQUARE.replace("class Model(", "class ModelNew(").replace("torch.pow(x, 2)", "x * x")


@pytest.fixture
def root(tmp_path):
    levels = tmp_path / "root" / "KernelBench"
    for level, name in ((1, "2_Square.py"), (1, "10_Other.py"), (2, "1_Chain.py")):
        path = levels / f"level{level}" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(SQUARE)
    return tmp_path / "root"


def test_problems_are_read_by_level_and_number(root):
    reading = SUITE.read(root)
    assert [one.id for one in reading.problems] == ["1/2", "1/10", "2/1"]
    assert {one.group for one in reading.problems} == {"level1", "level2"}
    assert reading.faults == ()
    assert reading.problems == SUITE.read(root / "KernelBench").problems
    first = reading.problems[0]
    assert (first.unchanged, first.language, first.needs, first.known_best) == (SQUARE, "python", "torch", None)


def test_what_is_no_problem_is_a_fault_by_its_file(root, tmp_path):
    level = root / "KernelBench" / "level1"
    (level / "2_Twin.py").write_text(SQUARE)
    (level / "3_Torn.py").write_text(SQUARE[: len(SQUARE) // 2])
    (level / "4_Bytes.py").write_bytes(b"\xff\xfe")
    (level / "5_Large.py").write_text("#" * (1 << 20) + SQUARE)
    (level / "notes.py").write_text("not numbered")
    (tmp_path / "secret.py").write_text(SQUARE)
    (level / "6_Link.py").symlink_to(tmp_path / "secret.py")
    reading = SUITE.read(root)
    assert [one.id for one in reading.problems] == ["1/2", "1/10", "2/1"]
    assert list(reading.faults) == [
        "level1/2_Twin.py: there is a problem 1/2 before",
        "level1/3_Torn.py: no problem: it does not parse, or defines no Model, get_inputs and get_init_inputs",
        "level1/4_Bytes.py: is not UTF-8 text",
        "level1/5_Large.py: larger than 1 MiB",
        "level1/6_Link.py: leads out of the folder",
    ]
    with pytest.raises(UsageError, match="holds no problem of KernelBench"):
        SUITE.read(tmp_path)


@pytest.mark.corpus
@sandboxed
def test_the_own_rule_checks_five_inputs_and_times_in_turns(root):
    pytest.importorskip("torch", reason="torch is not installed: pip install whet[torch]")
    first = SUITE.read(root).problems[0]
    with closing(Lab(Options(device="cpu"))) as lab:
        right = SUITE.judge(first, RIGHT, lab)
        assert (right.passed, right.unit, right.counter) == (True, "ms", "clock")
        assert right.figures["right"] == right.figures["trials"] == 5
        # On a busy machine the time runs out before there are 100.
        assert 5 <= right.figures["runtime"]["num_trials"] == right.figures["baseline"]["num_trials"] <= 100
        assert right.figures["speedup"] > 0
        wrong = SUITE.judge(first, RIGHT.replace("+ 1", "+ 1.001"), lab)
        assert (wrong.passed, wrong.reason, wrong.figures["compiled"]) == (False, "0 of 5 trials agree", True)
        crash = SUITE.judge(first, RIGHT.replace("return x", "raise ValueError(x.shape)\n        return x"), lab)
        assert "raised" in crash.reason
        broken = SUITE.judge(first, IMPORTS + "class ModelNew(nn.Module:\n", lab)
        assert broken.passed is False
        with pytest.raises(Unusable, match="in the form triton needs a GPU"):
            SUITE.judge(first, f"import triton\n@triton.jit\ndef kernel(x):\n    pass\n{RIGHT}", lab)
        with pytest.raises(Unusable, match="the reference fails"):
            SUITE.judge(changed(first, "return torch.pow(x, 2) + 1", "return torch.pow(x, None)"), RIGHT, lab)
        with pytest.raises(Unusable):
            SUITE.judge(changed(first, "torch.randn(16, 32)", "torch.randn(-1)"), RIGHT, lab)


def changed(one, old, new):
    assert old in one.unchanged
    return replace(one, unchanged=one.unchanged.replace(old, new))


def judged(number, speedup, sample=0, level=1, **words):
    figures = {
        "level": level,
        "number": number,
        "file": f"{number}_Square.py",
        "device": "cpu",
        "compiled": True,
        "trials": 5,
        "right": 5 if speedup else 3,
        "max_difference": [0.0],
        "avg_difference": [0.0],
    }
    if speedup:
        stats = {"std": 0.1, "min": 0.9, "max": 1.1, "num_trials": 100}
        figures |= {"baseline": {"mean": 2.0, **stats}, "runtime": {"mean": 2.0 / speedup, **stats}, "speedup": speedup}
    own = Own(bool(speedup), "" if speedup else "3 of 5 trials agree", figures, "ms", "clock")
    return row(f"{level}/{number}", sample, suite="kernelbench", own=words.pop("own", own), **words)


ROWS = [
    judged(1, 0.9),
    judged(1, 9.0, sample=1),
    judged(2, 4.0),
    judged(3, 0.0),
    judged(4, 1.0),
    judged(5, 1.0, own=None),
    judged(6, 5.0, own=None, excluded="the reference fails"),
]


def test_fast_p_counts_failures_and_only_first_samples():
    # Of five that count: 0.9x, 4x, wrong, 1.0x (not above 1), no answer.
    score = SUITE.score(ROWS)
    figures = {figure.name: figure for figure in score.figures}
    found = {name: figure.value for name, figure in figures.items() if name.startswith("fast_")}
    assert found == {"fast_0": 0.6, "fast_0.5": 0.6, "fast_0.8": 0.6, "fast_1": 0.2, "fast_1.5": 0.2, "fast_2": 0.2}
    assert figures["fast_1"].headline
    assert [figure.headline for figure in score.figures].count(True) == 1
    assert figures["fast_1"].low < 0.2 < figures["fast_1"].high
    assert figures["geometric mean"].value == pytest.approx((0.9 * 4.0 * 1.0) ** (1 / 3))
    assert (score.failed, score.excluded) == (2, {"1/6": "the reference fails"})
    assert score.spread == (0.0, 0.0, 0.9, 1.0, 4.0)
    assert speedup_of(ROWS[5]) == 0.0


def test_what_is_exported_is_scored_alike_when_it_is_read_back(tmp_path):
    folder = SUITE.export([*ROWS, judged(1, 3.0, level=2)], tmp_path / "out")
    file = folder / "level1" / "eval_results.json"
    document = json.loads(file.read_text())
    assert list(document) == ["1", "2", "3", "4", "5"]
    assert [entry["sample_id"] for entry in document["1"]] == [0, 1]
    entry = document["2"][0]
    assert set(entry) == {"sample_id", "compiled", "correctness", "metadata", "runtime", "runtime_stats"}
    assert (entry["correctness"], entry["runtime"], entry["runtime_stats"]["num_trials"]) == (True, 0.5, 100)
    assert entry["metadata"]["correctness_trials"] == "(5 / 5)"
    assert (document["3"][0]["runtime"], document["3"][0]["runtime_stats"]) == (-1.0, {})
    assert (folder / "level1" / "level_1_problem_1_sample_1_kernel.py").read_text() == "x = 1\n"
    timing = folder / "level1" / "baseline_time_torch.json"
    table = json.loads(timing.read_text())
    stats = table["level1"]["2_Square.py"]
    # A problem without a baseline's time would not count; that of a published table has all.
    table["level1"] |= {f"{number}_Square.py": stats for number in (3, 5)}
    timing.write_text(json.dumps(table))
    ours = {figure.name: figure.value for figure in SUITE.score(ROWS).figures if "pass" not in figure.name}
    again = {figure.name: pytest.approx(figure.value) for figure in SUITE.imported(file).figures}
    assert again == ours


def test_published_files_are_scored_by_their_baseline(tmp_path):
    entry = {"compiled": True, "correctness": True, "metadata": {"hardware": "x"}, "runtime_stats": {}}
    results = {
        "1": [{"sample_id": 1, **entry, "runtime": 0.1}, {"sample_id": 0, **entry, "runtime": 1.0}],
        "2": [{"sample_id": 0, **entry, "runtime": 4.0}],
        "3": [{"sample_id": 0, **entry, "correctness": False, "runtime": -1}],
        "9": [{"sample_id": 0, **entry, "runtime": 1.0}],
    }
    means = {"1_A.py": 3.0, "2_B.py": 3.0, "3_C.py": 3.0, "4_D.py": 3.0}
    table = {"level1": {name: {"mean": mean, "std": 0.1, "hardware": "x"} for name, mean in means.items()}}
    file, timing = tmp_path / "eval_results.json", tmp_path / "baseline_time_torch.json"
    file.write_text(json.dumps(results))
    with pytest.raises(UsageError, match="there is none"):
        SUITE.imported(file)
    timing.write_text(json.dumps(table))
    score = SUITE.imported(file)
    figures = {figure.name: figure.value for figure in score.figures}
    assert (figures["fast_0"], figures["fast_0.5"], figures["fast_0.8"], figures["fast_1"]) == (0.5, 0.5, 0.25, 0.25)
    assert figures["geometric mean"] == pytest.approx((3.0 * 0.75) ** 0.5)
    assert (score.failed, list(score.excluded)) == (2, ["1/9"])
    timing.write_text(json.dumps({**table, "level2": table["level1"]}))
    with pytest.raises(UsageError, match="does not say which level"):
        SUITE.imported(file)
    (tmp_path / "level_1_problem_1_sample_0_kernel.py").write_text("")
    assert SUITE.imported(file) == score
    for bad in ({"1": [{"sample_id": 0, "correctness": "yes"}]}, {"1": [{"sample_id": 0, **entry, "runtime": "fast"}]}):
        file.write_text(json.dumps(bad))
        with pytest.raises(UsageError, match=r"1\.0\."):
            SUITE.imported(file)
    file.write_text(json.dumps({"1": results["2"] * 2}))
    with pytest.raises(UsageError, match="several samples 0"):
        SUITE.imported(file)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"a": 1}', '{"1": []}', "[" * 100_000])
def test_other_files_are_not_kernelbenchs(tmp_path, text):
    file = tmp_path / "file.json"
    file.write_text(text)
    assert SUITE.imported(file) is None


def test_a_target_is_the_problems_own_file(root, tmp_path):
    (tmp_path / "target").mkdir()
    path = Path(SUITE.write_target(SUITE.read(root).problems[0], tmp_path / "target"))
    assert path.name == "2_Square.py"
    assert path.read_text() == SQUARE
