"""The fixes of ruff as proposals: by rule and together, within reach, and none where ruff cannot help."""

from __future__ import annotations

import os
import subprocess
import sys

SOURCE = """\
def f(rows, table):
    found = []
    for row in rows:
        if row in table.keys():
            found.append(row * 2)
    return found, set([row for row in rows])


def g(rows):
    return "{} {}".format(rows, sorted(list(rows)))
"""


def test_all_rules_come_first_and_then_each_alone(propose, outcome):
    found = propose("ruff-fix", SOURCE)
    assert len(found) >= 5
    assert "found = [row * 2 for row in rows if row in table]" in found[0].source
    assert "return found, set(rows)" in found[0].source
    assert 'f"{rows} {sorted(rows)}"' in found[0].source
    assert len({proposal.source for proposal in found}) == len(found)
    args = ([1, 2, 3], {1: 1, 3: 3})
    for proposal in found:
        assert outcome(proposal.source, args) == outcome(SOURCE, args)


def test_rules_that_only_others_break_are_not_proposed(propose):
    rules = [proposal.why.split()[1].rstrip(":") for proposal in propose("ruff-fix", SOURCE, symbol="g")]
    assert sorted(rules[0].split(",")) == sorted(rules[1:]) == ["C414", "UP032"]


def test_a_text_cannot_silence_or_configure_it(propose):
    text = "# ruff: noqa\ndef f(rows):\n    return set([row for row in rows])  # noqa: C403\n"
    assert "return set(rows)" in propose("ruff-fix", text)[0].source


def test_line_ends_stay(propose):
    for proposal in propose("ruff-fix", SOURCE.replace("\n", "\r\n")):
        assert "\n" not in proposal.source.replace("\r\n", "")


def test_nothing_to_mend_gives_nothing(propose):
    assert propose("ruff-fix", "def f(x):\n    return x\n") == []
    assert propose("ruff-fix", "x = '\\ud800'\n") == []


def test_without_ruff_there_are_no_proposals(tmp_path):
    """The package is there, its program is not: as after a partial installation."""
    code = (
        "import sys; sys.modules['ruff'] = None\n"
        "from whet.agents.catalogue.python.ruff_fixes import RuffFixes\n"
        "from whet.agents.models.base import Brief\n"
        "text = 'def f(xs):\\n    return set([x for x in xs])\\n'\n"
        "print(list(RuffFixes().propose(Brief('python', 'program', None, text))))\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
