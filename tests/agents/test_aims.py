"""What the Coder is told of an aim: a hot line, another version to join with, a version that is not the best."""

from __future__ import annotations

from test_prompts import record, situation, text

from whet.agents.coder import coder_request
from whet.agents.situation import Partner
from whet.core.measurement import Speedup
from whet.core.profile import HotLine


def test_an_aim_elsewhere_is_told_as_what_it_is():
    line = HotLine(7, 0.42, "    return `x`")
    partner = Partner(
        "def f(xs):\n    return heap(xs)  # ```\n", record(outcome="faster", correct=True, ratio=1.5, low=1.4, high=1.6)
    )
    told = coder_request(situation(focus=line, partner=partner)).messages
    assert "## Where to work" in told[3].text
    assert "42 % of the time" in told[3].text
    assert "line 7: return 'x'" in told[3].text
    assert "## A version to join with it" in told[3].text
    assert "````python\ndef f(xs):\n    return heap(xs)  # ```\n````" in told[3].text
    assert "right, and faster than the original: 1.5x" in told[3].text
    plain = text(coder_request(situation()))
    assert "Where to work" not in plain
    assert "to join with" not in plain


def test_a_parent_that_is_not_the_best_is_not_called_so():
    for best in (None, Speedup(2.5, 2.4, 2.6, 0.99, "time", 10, 40, (0.99, 1.01), "the original", ())):
        told = coder_request(situation(leads=False, best=best)).messages[2].text
        assert "# The version to build upon" in told
        assert "the best version so far" not in told
        assert "nothing faster has been found yet" not in told
