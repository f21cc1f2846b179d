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
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from whet.agents.models.base import Model, ModelError, Reply, Request
from whet.agents.models.in_turn import parts
from whet.core.errors import UsageError
from whet.core.events import Event, EventKind, Listener
from whet.core.plain import to_plain

POLL = 0.2
"""Seconds between two looks at the answer's file, which is read once two of them find it unchanged. A smaller value may
read a file that is still being written; a larger one makes each answer wait longer."""
# An empty file may be one that an editor has just opened.
EMPTY_FOR = 2.0


Tell = Callable[[str], None]
Await = Callable[[str, bool], None]
"""Hears the path of an answer's file, and whether it is awaited from now on or no longer."""


def untold(line: str) -> None:
    """Tells nobody."""


def unawaited(file: str, waiting: bool) -> None:
    """Tells nobody."""


class ManualModel:
    """Writes prompts into a folder and waits for answers there.

    Attributes:
        tell: hears which file is awaited, and what became of each answer; several threads may call it.
        awaits: hears when that begins and ends, for displays.

    Args:
        folder: made where it does not exist.

    Raises:
        UsageError: the folder cannot be made or written to.
    """

    free = True

    def __init__(self, folder: Path) -> None:
        self.name = f"manual:{folder}"
        self.folder = folder
        self.tell: Tell = untold
        self.awaits: Await = unawaited
        self._lock = threading.Lock()
        self._files: dict[str, str] = {}
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
            file = self.folder / answer_file(number)
            text = _await(file) if file.exists() else self._waited(file, request)
        except OSError as error:
            raise ModelError(f"{self.name}: {error}", fatal=True) from None
        return Reply(text=text, model=self.name, raw={"number": number})

    def _waited(self, file: Path, request: Request) -> str:
        """Tells of an answer that is not there yet, and waits for it."""
        self.tell(f"waiting for {file} ({request.place or f'the {request.role}'})")
        self.awaits(str(file), True)
        try:
            return _await(file)
        finally:
            self.awaits(str(file), False)

    def became(self, reply: Reply, line: str, candidate: str = "") -> None:
        """Tells what was made of a reply.

        Args:
            reply: that this model gave, now or in an earlier process of the run.
            line: what became of it.
            candidate: id of the one that it brought, if any.
        """
        file = answer_file(int(reply.raw["number"]))
        if candidate:
            self._files[candidate] = file
        self.tell(f"{file}: {line}")

    def file_of(self, candidate: str) -> str:
        """Returns the name of the answer that brought a candidate; empty where none did."""
        return self._files.get(candidate, "")

    def _number(self, request: Request) -> int:
        """The number of the request's files, which exist when this returns."""
        plain = to_plain(replace(request, place=""))
        del plain["place"]
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
            head = f"=== answer in {answer_file(number)}{other} ===\n"
            parts = [head, *(f"=== {m.role} ===\n\n{m.text.rstrip()}\n" for m in request.messages)]
            self._partial("\n".join(parts).encode("utf-8", "replace")).replace(target)
        return number

    def _partial(self, content: bytes) -> Path:
        path = self.folder / f".partial.{secrets.token_hex(8)}"
        path.write_bytes(content)
        return path


def answer_file(number: int) -> str:
    """Returns the name of the file with the answer to a prompt."""
    return f"{number:04}.answer.md"


def by_hand(model: Model) -> list[ManualModel]:
    """Returns those of a model's parts that a person answers through files."""
    return [part for part in parts(model) if isinstance(part, ManualModel)]


def tell_by_hand(models: Sequence[Model], listener: Listener) -> None:
    """Has those of several models that a person answers through files tell a listener what they wait for."""
    for part in (part for model in models for part in by_hand(model)):
        part.tell = lambda line: listener(Event(EventKind.ANSWER, line))
        part.awaits = lambda file, waiting: listener(Event(EventKind.ANSWER, "", {"file": file, "awaited": waiting}))


def tell_use(model: Model, reply: Reply, line: str, candidate: str = "") -> None:
    """Tells what became of a reply where a person gave it through a file; see `ManualModel.became`."""
    for part in by_hand(model):
        if part.name == reply.model:
            part.became(reply, line, candidate)


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
