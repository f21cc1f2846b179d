"""Whole files of suites, read under limits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from whet.core.errors import UsageError
from whet.core.task import MIB

LONGEST_FILE = 512 * MIB
"""Bytes of a file at most, since it is read as a whole. A larger bound takes more memory; a smaller one may refuse real
data."""


def find(root: Path, name: str, suite: str) -> Path:
    """Returns the file of a name, or pattern of a name, at or under a path; of several the first.

    Raises:
        UsageError: there is none.
    """
    found = [root] if root.is_file() else sorted(root.rglob(name))
    if not found:
        raise UsageError(f"no {name} under {root}; see whet bench fetch-help {suite}")
    return found[0]


def text_of(file: Path) -> str:
    """Returns a file's text.

    Raises:
        UsageError: it cannot be read, or is no text.
    """
    try:
        if file.stat().st_size > LONGEST_FILE:
            raise UsageError(f"{file} is longer than {LONGEST_FILE >> 20} MiB")
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise UsageError(f"{file} is not UTF-8") from None
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}") from None


def json_of(file: Path) -> Any:
    """Returns what a JSON file holds.

    Raises:
        UsageError: it cannot be read, or is cut off.
    """
    text = text_of(file)
    try:
        value = json.loads(text)
        if "\\u" in text:
            json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise UsageError(f"{file} holds half of a surrogate pair in its text") from None
    except json.JSONDecodeError as error:
        raise UsageError(f"{file} is not JSON ({error.msg} at character {error.pos}); was it cut off?") from None
    except (ValueError, RecursionError):
        raise UsageError(f"{file} holds a number or nesting beyond all measure") from None
    return value
