"""A metric that whet does not know, brought by the plug-in of the manual: bytes of a program's text."""

from __future__ import annotations

from pathlib import Path

import pytest
from brought import install, manual

import whet
from whet.core.errors import UsageError
from whet.core.measurement import Outcome
from whet.core.options import METRIC_GROUP
from whet.core.result import Status
from whet.core.verdict import Reason

PLUGIN = manual("metrics.md", "size_metric.py")
LONG = "found = 0\nfor word in input().split():\n    found = found + int(word)\nprint(found)\n"
SHORT = "print(sum(map(int, input().split())))\n"
LONGER = LONG.replace("found = 0", "found = int('0')")
WORKLOAD = """\
sizes = [8, 16]


def make_input(size, rng):
    return " ".join(str(rng.randrange(9)) for _ in range(size)) + "\\n"
"""


@pytest.fixture
def target(site: Path, tmp_path: Path) -> str:
    (tmp_path / "sums.py").write_text(LONG)
    (tmp_path / "workload.py").write_text(WORKLOAD)
    return f"{tmp_path}/sums.py"


def verified(target: str, text: str, **options) -> whet.Result:
    folder = Path(target).parent
    (folder / "answer.py").write_text(text)
    return whet.verify(target, candidate=folder / "answer.py", home=folder / "home", seed=1, quick=True, **options)


@pytest.mark.corpus(one_in=8)
def test_a_rewrite_is_verified_by_it(site: Path, target: str) -> None:
    install(site, METRIC_GROUP, "METRIC", size=PLUGIN)
    result = verified(target, SHORT, metric="size")
    assert result.status is Status.IMPROVED
    assert result.speedup.metric == "size"
    assert result.speedup.ratio == pytest.approx(len(LONG) / len(SHORT))
    assert result.message.startswith("less size")


@pytest.mark.corpus(one_in=8)
def test_what_is_no_gain_in_it_is_told(site: Path, target: str) -> None:
    install(site, METRIC_GROUP, "METRIC", size=PLUGIN)
    result = verified(target, LONGER, metric="size")
    assert result.status is Status.NO_IMPROVEMENT
    rung = next(rung for rung in result.rungs if rung.name == "measure")
    assert rung.reason is Reason.SLOWER
    assert rung.evidence["outcome"] == Outcome.SLOWER


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("raise OSError('nowhere')\n", r"the plug-in size .* cannot be used: OSError\('nowhere'\)"),
        ("METRIC = None\n", "the plug-in size .* is no Metric but None"),
    ],
)
def test_a_plug_in_of_no_use_is_told_in_a_line(site: Path, target: str, text: str, said: str) -> None:
    install(site, METRIC_GROUP, "METRIC", size=text)
    with pytest.raises(UsageError, match=said):
        verified(target, SHORT, metric="size")


def test_a_metric_that_nobody_knows_is_refused(site: Path, target: str) -> None:
    install(site, METRIC_GROUP, "METRIC", size=PLUGIN)
    with pytest.raises(UsageError, match="did you mean 'size'"):
        verified(target, SHORT, metric="sise")
