"""What the agents are told: jinja2 templates, one a message.

Whatever comes from a model, a candidate or a repository goes through `fence`, `quote` or `one_line`: it is
data, and nothing in it can end its own quotation.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

LONGEST_LINE = 300


def render(name: str, **values: Any) -> str:
    """Returns the text of the template ``name.md``.

    Raises:
        jinja2.UndefinedError: the template uses a value that was not given.
    """
    return _environment().get_template(f"{name}.md").render(values).strip()


def fence(text: str, tag: str = "") -> str:
    """Returns a text between fences longer than any run of backticks in it."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    bar = "`" * max(3, longest + 1)
    end = "" if not text or text.endswith("\n") else "\n"
    return f"{bar}{tag}\n{text}{end}{bar}"


def one_line(text: str, longest: int = LONGEST_LINE) -> str:
    """Returns a text as one line without backticks, cut where it is longer."""
    line = " ".join(text.replace("`", "'").split())
    return line if len(line) <= longest else f"{line[: longest - 3]}..."


def quote(text: str, longest: int = LONGEST_LINE) -> str:
    """Returns a text as one line between quotation marks, none of which stands in it."""
    return '"' + one_line(text.replace('"', "'"), longest) + '"'


def clip(text: str, longest: int) -> str:
    """Returns a text, with its middle left out where it has more characters than ``longest``."""
    if len(text) <= longest:
        return text
    half = longest // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half} characters left out ...]\n{text[-half:]}"


def times(ratio: float) -> str:
    """Returns a speedup as prompts write it."""
    return f"{ratio:.3g}x"


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        undefined=StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"fence": fence, "one_line": one_line, "quote": quote, "clip": clip, "times": times}
    return environment
