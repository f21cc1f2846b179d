"""``--record`` on packages that nobody here wrote: methods, names, dataclasses, arrays, generators and exceptions."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest
from test_record import recorded, values

from whet.evaluators.inputs.plain_data import read

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed"),
]

USES = """
import numpy as np
from dateutil.easter import easter
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from numpy.polynomial.polynomial import polyval
from sortedcontainers import SortedList

for year, method in ((1990, 2), (2026, 3), (2026, 9)):
    try:
        easter(year, method=method)
    except ValueError:
        pass
SortedList().update(number * number for number in (3, 1, 2))
polyval(np.linspace(0.0, 1.0, 5), np.array([1.0, 2.0]), tensor=False)
RendererHTML.renderAttrs(Token("link_open", "a", 1, {"href": "/x"}))
"""


@pytest.fixture
def calls_of(tmp_path, monkeypatch):
    """Records one function of an installed package in a script of the current folder."""
    (tmp_path / "uses.py").write_text(USES)
    monkeypatch.chdir(tmp_path)

    def calls_of(file, symbol):
        package = find_spec(file.partition("/")[0])
        assert package is not None
        return recorded(Path(package.origin).parent.parent, symbol, "python uses.py", file)

    return calls_of


def test_arguments_by_name_and_an_exception(calls_of):
    task, told = calls_of("dateutil/easter.py", "easter")
    assert "recorded 3 calls of easter: 3 distinct" in told
    assert "on 1 of which it raises" in told
    assert {(*value["args"], value["kwargs"]["method"]) for value in values(task)} == {(1990, 2), (2026, 3)}
    assert len([read(payload) for payload in task.workload.calls]) == 1


def test_a_method_that_is_given_a_generator(calls_of):
    task, _ = calls_of("sortedcontainers/sortedlist.py", "SortedList.update")
    (call,) = values(task)
    assert call["init"].name == "sortedcontainers.sortedlist:SortedList"
    (lazy,) = call["args"]
    assert tuple(lazy.state) == (9, 1, 4)


def test_arrays(calls_of):
    task, _ = calls_of("numpy/polynomial/polynomial.py", "polyval")
    (call,) = values(task)
    assert [array.kind for array in call["args"]] == ["ndarray", "ndarray"]
    assert call["kwargs"] == {"tensor": False}


def test_a_dataclass(calls_of):
    task, _ = calls_of("markdown_it/renderer.py", "RendererHTML.renderAttrs")
    ((token,),) = values(task)
    assert token.name == "markdown_it.token:Token"
    assert dict(token.state)["tag"] == "a"
