"""What the tests of the edits share."""

from __future__ import annotations

import copy
import textwrap

import pytest

from whet.agents.catalogue.registry import EDITS
from whet.agents.models.base import Brief


@pytest.fixture(scope="session")
def propose():
    """Returns what one edit, by its name, proposes for a text."""

    def call(name, source, symbol=None, language="python"):
        edit = next(each for each in EDITS if each.name == name)
        kind = "function" if symbol else "program"
        return list(edit.propose(Brief(language, kind, symbol, textwrap.dedent(source))))

    return call


@pytest.fixture(scope="session")
def outcome():
    """Returns what the function ``f`` of a text gives or raises, and what it leaves of its arguments."""

    def call(source, args):
        space = {"__name__": "sample"}
        exec(compile(textwrap.dedent(source), "sample", "exec"), space)
        given = copy.deepcopy(args)
        try:
            result = ("value", space["f"](*given))
        except Exception as error:
            result = ("raise", type(error))
        return result, given

    return call
