"""A person, or another program, that answers through files.

Each request becomes ``NNNN.prompt.json`` and, for reading, ``NNNN.prompt.md``; the answer is whatever stands
in ``NNNN.answer.md``. A request that was written before, by a run that was killed, is found again by its
content, and so is one that another run asked.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import threading
import time
from pathlib import Path
from typing import Any

from whet.agents.models.base import ModelError, Reply, Request
from whet.core.errors import UsageError
from whet.core.plain import to_plain

POLL = 0.2
# An empty file may be one that an editor has just opened.
EMPTY_FOR = 2.0


class ManualModel:
    """Writes prompts into a folder and waits for answers there.

    Args:
        folder: made where it does not exist.

    Raises:
        UsageError: the folder cannot be made or written to.
    """

    free = True

    def __init__(self, folder: Path) -> None:
        self.name = f"manual:{folder}"
        self.folder = folder
        self._lock = threading.Lock()
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"manual:{folder}: the folder cannot be made ({error.strerror})") from None
        if not os.access(folder, os.W_OK | os.X_OK):
            raise UsageError(f"manual:{folder}: the folder cannot be written to; give another one")

    def complete(self, request: Request) -> Reply:
        """Answers one request, however long that takes.

        Raises:
            ModelError: the folder cannot be used any more.
        """
        try:
            with self._lock:
                number = self._number(request)
            text = _await(self.folder / f"{number:04}.answer.md")
        except OSError as error:
            raise ModelError(f"{self.name}: {error}", fatal=True) from None
        return Reply(text=text, model=self.name, raw={"number": number})

    def _number(self, request: Request) -> int:
        """The number of the request's files, which exist when this returns."""
        plain = to_plain(request)
        digest = hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()
        last = 0
        for path in sorted(self.folder.glob("*.prompt.json")):
            if not (head := path.name.split(".")[0]).isdigit():
                continue
            last = max(last, int(head))
            if _read(path).get("request") == digest:
                return self._readable(last, request)
        while True:
            last += 1
            if self._claim(last, {"request": digest, **plain}):
                return self._readable(last, request)

    def _claim(self, number: int, content: dict[str, Any]) -> bool:
        """Writes the JSON file in one step; False where somebody else took the number."""
        partial = self._partial((json.dumps(content, indent=2) + "\n").encode())
        try:
            os.link(partial, self.folder / f"{number:04}.prompt.json")
        except FileExistsError:
            return False
        finally:
            partial.unlink()
        return True

    def _readable(self, number: int, request: Request) -> int:
        target = self.folder / f"{number:04}.prompt.md"
        if not target.exists():
            again = request.role == "coder" and request.sample > 0
            other = ": asked before in this round, another rewrite is wanted" if again else ""
            head = f"=== answer in {number:04}.answer.md{other} ===\n"
            parts = [head, *(f"=== {m.role} ===\n\n{m.text.rstrip()}\n" for m in request.messages)]
            self._partial("\n".join(parts).encode("utf-8", "replace")).replace(target)
        return number

    def _partial(self, content: bytes) -> Path:
        path = self.folder / f".partial.{secrets.token_hex(8)}"
        path.write_bytes(content)
        return path


def _read(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _await(path: Path) -> str:
    """Waits until the file is there and no longer changes."""
    before: tuple[int, int] | None = None
    # An interpreter that ends waits for its threads: without a main thread nobody wants the answer any more.
    while threading.main_thread().is_alive():
        try:
            status = path.stat()
        except FileNotFoundError:
            now = None
        else:
            now = (status.st_size, status.st_mtime_ns)
            if now == before and (status.st_size or time.time() - status.st_mtime > EMPTY_FOR):
                return path.read_bytes().decode("utf-8", "replace")
        before = now
        time.sleep(POLL)
    raise ModelError("interrupted", fatal=True)
