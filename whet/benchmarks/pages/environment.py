"""How templates are filled in: whatever is put out was written by a stranger until it is known not to be."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from whet.benchmarks.pages.texts import cut, shown_times
from whet.core.text import count, printable

HERE = Path(__file__).parent


def environment(folder: Path, filters: Mapping[str, Callable[..., Any]]) -> Environment:
    """Returns what fills in a folder's templates, and those of this one, ``parts.html``.

    Args:
        folder: of the templates.
        filters: their own, beside those that all pages have.
    """
    made = Environment(
        loader=FileSystemLoader([folder, HERE]),
        undefined=StrictUndefined,
        autoescape=True,
        finalize=_visible,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"count": count, "cut": cut, "times": shown_times, **filters}
    return made


def style() -> str:
    """Returns the style sheet that all pages share."""
    return (HERE / "style.css").read_text(encoding="utf-8")


def digest(text: str) -> str:
    """Returns how a page's Content-Security-Policy names a style or a script that stands in the page."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _visible(value: Any) -> Any:
    """What is put out: in it nothing hides or reorders what stands around it."""
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value
