"""Costs that lie outside the timed calls: loading, the first call, work after the answer, memory that stays."""

from __future__ import annotations

import ast
import random
import shutil
from collections.abc import Iterator

import pytest

from whet.core.config import Options
from whet.core.verdict import Reason
from whet.evaluators.finding import Fault
from whet.evaluators.ladder import Ladder, open_ladder
from whet.evaluators.preloads import imported
from whet.evaluators.subjects import Subject
from whet.evaluators.targets import read_task
from whet.evaluators.timing.hidden_costs import HiddenCosts, hidden_costs
from whet.evaluators.timing.repeats import saved
from whet.sandbox.inside.codec import encode

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")

TARGET = """\
def squares(values):
    found = []
    for value in values:
        found.append(value * value)
    return found
"""
WORKLOAD = """\
sizes = [10, 3000, 30000]
def make_input(size, rng):
    return ([rng.randrange(10**4) for _ in range(size)],)
"""
PAYLOADS = [encode(([number + one for one in range(3000)],)) for number in range(8)]
TABLE = "[value * value for value in range(10**6)]"


@pytest.fixture(scope="module")
def ladder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ladder]:
    folder = tmp_path_factory.mktemp("squares")
    (folder / "squares.py").write_text(TARGET)
    (folder / "workload.py").write_text(WORKLOAD)
    ladder = open_ladder(read_task(f"{folder}/squares.py::squares", Options()), Options(), 7)
    yield ladder
    ladder.close()


def costs(ladder: Ladder, source: str) -> HiddenCosts | Fault:
    built = [ladder.workshop.build(text) for text in (TARGET, source)]
    assert all(isinstance(one, Subject) for one in built)
    return hidden_costs(*built, PAYLOADS, 2, 5.0)


@pytest.mark.timed
def test_an_honest_candidate_is_charged_nothing(ladder: Ladder) -> None:
    found = costs(ladder, "def squares(values):\n    return [value * value for value in values]\n")
    assert isinstance(found, HiddenCosts)
    assert found.seconds == 0.0
    assert len(found.evidence["sides"]["candidate"]) == len(found.evidence["sides"]["baseline"])


@pytest.mark.timed
def test_a_table_that_is_made_while_loading_is_charged(ladder: Ladder) -> None:
    found = costs(ladder, f"TABLE = {TABLE}\ndef squares(values):\n    return [TABLE[value] for value in values]\n")
    assert isinstance(found, HiddenCosts)
    assert 0.01 < found.seconds < 2.0


@pytest.mark.timed
def test_a_table_that_is_made_at_the_first_call_is_charged(ladder: Ladder) -> None:
    found = costs(
        ladder,
        "TABLE = []\ndef squares(values):\n    if not TABLE:\n"
        f"        TABLE.extend({TABLE})\n    return [TABLE[value] for value in values]\n",
    )
    assert isinstance(found, HiddenCosts)
    assert 0.01 < found.seconds < 2.0


@pytest.mark.timed
@pytest.mark.parametrize("sizes", [(300, 2000), (2000, 300)])
@pytest.mark.parametrize("lazily", [False, True])
def test_an_input_that_is_dearer_than_the_next_is_no_debt(ladder: Ladder, sizes: tuple[int, int], lazily: bool) -> None:
    slow = "def squares(values):\n    return [value * value for value in values if values.count(value)]\n"
    table = f"    if not TABLE:\n        TABLE.extend({TABLE})\n" if lazily else ""
    quick = f"TABLE = []\ndef squares(values):\n{table}    return [value * value for value in values]\n"
    built = [ladder.workshop.build(text) for text in (slow, quick)]
    payloads = [encode((list(range(size)),)) for size in (*sizes, *[sizes[0]] * 12)]
    found = hidden_costs(*built, payloads, 2, 5.0)
    assert isinstance(found, HiddenCosts)
    assert (found.evidence["before_the_calls"] > 0.01) == lazily


@pytest.mark.timed
@pytest.mark.parametrize("indent", ["", "    "])
def test_imports_are_no_work_of_its_own(ladder: Ladder, indent: str) -> None:
    lines = ["import numpy, decimal, asyncio, email.message", "def squares(values):"]
    header = lines if not indent else [lines[1], indent + lines[0]]
    found = costs(ladder, "\n".join([*header, "    return [value * value for value in values]", ""]))
    assert isinstance(found, HiddenCosts)
    assert found.seconds < 0.01


@pytest.mark.timed
def test_parts_that_are_kept_from_other_inputs_are_told(ladder: Ladder) -> None:
    slow = "def squares(values):\n    return [sum(value for _ in range(value)) for value in values]\n"
    kept = (
        "KNOWN = {}\n"
        "def squares(values):\n    for value in values:\n        if value not in KNOWN:\n"
        "            KNOWN[value] = sum(value for _ in range(value))\n    return [KNOWN[value] for value in values]\n"
    )
    built = [ladder.workshop.build(text) for text in (slow, kept)]
    draw = random.Random(5)
    payloads = [encode(([draw.randrange(1000) for _ in range(20)],)) for _ in range(122)]
    found = hidden_costs(*built, payloads, 20, 5.0)
    assert isinstance(found, Fault)
    assert found.reason is Reason.CHEATING
    assert "get cheaper by what went before" in found.detail
    again = hidden_costs(built[0], built[0], payloads, 20, 5.0)
    assert isinstance(again, HiddenCosts)
    assert again.evidence["by_earlier_calls"] < 0.001


@pytest.mark.timed
@pytest.mark.corpus
def test_a_library_that_sets_itself_up_at_its_first_call_is_not_charged(ladder: Ladder) -> None:
    pytest.importorskip("torch", reason="torch is not installed")
    found = costs(
        ladder,
        "import torch\n"
        "def squares(values):\n    rows = torch.tensor(values, dtype=torch.float64)\n"
        "    torch.softmax(rows, 0)\n    return [int(value) for value in (rows * rows).tolist()]\n",
    )
    assert isinstance(found, HiddenCosts)
    assert found.evidence["before_the_calls"] < 0.005


@pytest.mark.timed
def test_work_that_goes_on_after_the_answer_is_told(ladder: Ladder) -> None:
    found = costs(
        ladder,
        "import threading\n"
        "def spin():\n    while True:\n        sum(range(1000))\n"
        "def squares(values):\n"
        "    if threading.active_count() == 1:\n        threading.Thread(target=spin, daemon=True).start()\n"
        "    return [value * value for value in values]\n",
    )
    assert isinstance(found, Fault)
    assert found.reason is Reason.CHEATING
    assert "still works after its answer" in found.detail


@pytest.mark.timed
def test_a_pool_that_only_waits_is_fine(ladder: Ladder) -> None:
    found = costs(
        ladder,
        "from concurrent.futures import ThreadPoolExecutor\nPOOL = ThreadPoolExecutor(1)\n"
        "def squares(values):\n    return POOL.submit(lambda: [value * value for value in values]).result()\n",
    )
    assert isinstance(found, HiddenCosts)


@pytest.mark.timed
def test_memory_that_grows_from_call_to_call_is_told(ladder: Ladder) -> None:
    found = costs(
        ladder,
        "KEPT = []\n"
        "def squares(values):\n    found = [value * value for value in values]\n"
        "    KEPT.append((list(values), list(found)))\n    return found\n",
    )
    assert isinstance(found, Fault)
    assert found.reason is Reason.CHEATING
    assert "keeps memory from call to call" in found.detail


@pytest.mark.timed
def test_a_buffer_that_is_used_again_is_fine(ladder: Ladder) -> None:
    found = costs(
        ladder,
        "BUFFER = [0] * 10**5\n"
        "def squares(values):\n    BUFFER[: len(values)] = [value * value for value in values]\n"
        "    return BUFFER[: len(values)]\n",
    )
    assert isinstance(found, HiddenCosts)
    assert found.seconds < 0.005


@pytest.mark.parametrize(
    ("ours", "theirs", "charged"),
    [
        ((100.0, 100.0), (9.0, 3.0), 6.0),
        ((102.0, 100.0), (9.0, 3.0), 4.0),
        ((100.0, 160.0), (3.1, 3.0), 0.0),
        ((100.0, 160.0), (9.0, 3.0), 6.0),
        ((100.0, 100.0), (3.4, 3.0), 0.0),
    ],
    ids=["saves", "the original saves too", "the original's noise", "noise and a saving", "a few per cent"],
)
def test_what_later_rounds_save_is_the_candidates_alone(
    ours: tuple[float, float], theirs: tuple[float, float], charged: float
) -> None:
    assert saved(ours, theirs) == charged


def test_modules_that_a_text_imports_anywhere_are_named() -> None:
    text = (
        "from __future__ import annotations\nimport json as j, os.path\n"
        "class Rows:\n    def total(self):\n        from xml import sax\n        from . import own\n"
    )
    assert list(imported(ast.parse("import re"), ast.parse(text))) == [
        "re",
        "__future__",
        "__future__.annotations",
        "json",
        "os.path",
        "xml",
        "xml.sax",
    ]
