"""What the tests of the edits share."""

from __future__ import annotations

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
