"""What the agents are told: jinja2 templates, one a message.

Whatever comes from a model, a candidate or a repository goes through `fence`, `quote` or `one_line`: it is
data, and nothing in it can end its own quotation.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

LONGEST_LINE = 300
"""Characters of a text that prompts show as one line, where the template states no other number. It may come from a
candidate or a repository; longer ones cost tokens, shorter ones cut off what an error says."""
WHITE = str.maketrans("\n\t", "  ")
"""Tabs and line ends, which may stand in a text that can be seen."""


def render(name: str, **values: Any) -> str:
    """Returns the text of the template ``name.md``.

    Raises:
        jinja2.UndefinedError: the template uses a value that was not given.
    """
    return _template(name).render(values).strip()


def fence(text: str, tag: str = "") -> str:
    """Returns a text between fences longer than any run of backticks in it; what no message can hold is escaped."""
    text = text.encode("utf-8", "backslashreplace").decode()
    longest = max(map(len, re.findall(r"`+", text)), default=0) if "`" in text else 0
    bar = "`" * max(3, longest + 1)
    end = "" if not text or text.endswith("\n") else "\n"
    return f"{bar}{tag}\n{text}{end}{bar}"


def one_line(text: str, longest: int = LONGEST_LINE) -> str:
    """Returns a text as one line without backticks or control characters, cut where it is longer."""
    line = visible(" ".join(text.replace("`", "'").split()))
    return line if len(line) <= longest else f"{line[: longest - 3]}..."


def quote(text: str, longest: int = LONGEST_LINE) -> str:
    """Returns a text as one line between quotation marks, none of which stands in it."""
    return '"' + one_line(text.replace('"', "'"), longest) + '"'


def clip(text: str, longest: int) -> str:
    """Returns a text with its control characters escaped, and without its middle where it is longer."""
    if len(text) <= longest:
        return visible(text)
    half = longest // 2
    return visible(f"{text[:half]}\n[... {len(text) - 2 * half} characters left out ...]\n{text[-half:]}")


def visible(text: str) -> str:
    """Returns a text whose characters can all be seen; others but tabs and line ends are written as escapes."""
    if text.translate(WHITE).isprintable():
        return text
    return "".join(c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode() for c in text)


def times(ratio: float) -> str:
    """Returns a speedup as prompts write it."""
    return f"{ratio:.3g}x"


def duration(seconds: float) -> str:
    """Returns a time as prompts write it."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} us"


def si(value: float, unit: str = "") -> str:
    """Returns an amount with the prefix of the power of a thousand that fits it, and its unit."""
    for prefix, size in (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if value >= size:
            return f"{value / size:.3g} {prefix}{unit}"
    return f"{value:.3g} {unit}".rstrip()


@cache
def _template(name: str) -> Template:
    return _environment().get_template(f"{name}.md")


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        undefined=StrictUndefined,
        autoescape=False,
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.clear()  # no template uses them, and each rendering would copy them
    environment.filters |= {
        "fence": fence,
        "one_line": one_line,
        "quote": quote,
        "clip": clip,
        "times": times,
        "duration": duration,
        "si": si,
    }
    return environment
