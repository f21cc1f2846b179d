"""Prompts and answers as files."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest
from paths import TESTS

from whet.agents.models import manual
from whet.agents.models.base import Brief, Message, ModelError, Request
from whet.agents.models.manual import ManualModel
from whet.core.errors import UsageError


def request(sample: int = 0, text: str = "make it faster") -> Request:
    messages = (Message("system", "the rules"), Message("user", text))
    return Request("coder", messages, sample, 64, Brief("python", "function", "f", "def f(): ..."))


def wait_for(path: Path) -> Path:
    limit = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < limit, f"{path.name} did not appear"
        time.sleep(0.01)
    return path


def test_a_prompt_becomes_files_and_the_answer_is_awaited(tmp_path: Path) -> None:
    model = ManualModel(tmp_path / "new" / "folder")
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(model.complete, request())
        prompt = wait_for(model.folder / "0001.prompt.md").read_text()
        assert prompt.index("the rules") < prompt.index("make it faster")
        assert "0001.answer.md" in prompt
        (model.folder / "0001.answer.md").write_bytes("an answer\r\nof two lines 🙂\n".encode())
        reply = asked.result(60)
    assert reply.text == "an answer\r\nof two lines 🙂\n"
    assert reply.model == f"manual:{model.folder}"
    plain = json.loads((model.folder / "0001.prompt.json").read_text())
    assert (plain["role"], plain["sample"], plain["brief"]["symbol"]) == ("coder", 0, "f")
    assert [message["text"] for message in plain["messages"]] == ["the rules", "make it faster"]
    assert sorted(path.name for path in model.folder.iterdir()) == [
        "0001.answer.md",
        "0001.prompt.json",
        "0001.prompt.md",
    ]


def test_a_request_asked_again_finds_its_files(tmp_path: Path) -> None:
    (tmp_path / "0001.answer.md").write_text("first")
    (tmp_path / "0002.answer.md").write_text("second")
    model = ManualModel(tmp_path)
    assert model.complete(request(sample=0)).text == "first"
    assert model.complete(request(sample=1)).text == "second"
    first, second = ((tmp_path / f"000{n}.prompt.md").read_text() for n in (1, 2))
    assert "another rewrite is wanted" in second.split("\n")[0]
    assert "another rewrite is wanted" not in first
    (tmp_path / "0001.prompt.md").unlink()  # as a kill between the two files leaves it
    again = ManualModel(tmp_path)
    assert again.complete(request(sample=0)).text == "first"
    assert (tmp_path / "0001.prompt.md").exists()
    assert not (tmp_path / "0003.prompt.json").exists()


def test_numbering_goes_on_after_what_is_there(tmp_path: Path) -> None:
    (tmp_path / "0041.prompt.json").write_text("not even JSON")
    (tmp_path / "notes.prompt.json").write_text("{}")
    (tmp_path / "0042.answer.md").write_text("yes")
    assert ManualModel(tmp_path).complete(request()).raw["number"] == 42


def test_concurrent_requests_get_numbers_and_answers_of_their_own(tmp_path: Path) -> None:
    model = ManualModel(tmp_path)
    other = ManualModel(tmp_path)  # as another process would have it

    def answer() -> None:
        for number in range(1, 9):
            plain = json.loads(wait_for(tmp_path / f"{number:04}.prompt.json").read_text())
            (tmp_path / f"{number:04}.answer.md").write_text(f"to {plain['sample']}")

    person = threading.Thread(target=answer)
    person.start()
    with ThreadPoolExecutor(8) as pool:
        asked = [pool.submit((model, other)[n % 2].complete, request(sample=n)) for n in range(8)]
        texts = [reply.result(60).text for reply in asked]
    person.join()
    assert texts == [f"to {n}" for n in range(8)]


def test_an_answer_that_is_still_being_written_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "0001.answer.md"
    path.touch()
    parts = iter("01234567")

    def write_on(seconds: float) -> None:
        with path.open("a") as file:
            file.write(next(parts, ""))

    monkeypatch.setattr(manual, "time", SimpleNamespace(sleep=write_on, time=time.time))
    assert ManualModel(tmp_path).complete(request()).text == "01234567"


def test_an_empty_answer_is_one_that_stays_empty(tmp_path: Path) -> None:
    path = tmp_path / "0001.answer.md"
    path.touch()
    old = time.time() - 60
    os.utime(path, (old, old))
    assert ManualModel(tmp_path).complete(request()).text == ""


def test_a_killed_process_is_taken_up_where_it_was(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; sys.path[:0] = [sys.argv[2], sys.argv[2] + '/agents']\n"
        "from test_manual import ManualModel, request\n"
        "ManualModel(Path(sys.argv[1])).complete(request())"
    )
    waiting = subprocess.Popen([sys.executable, "-c", script, str(tmp_path), str(TESTS)])
    wait_for(tmp_path / "0001.prompt.md")
    waiting.send_signal(signal.SIGKILL)
    waiting.wait(10)
    (tmp_path / "0001.answer.md").write_text("late, but here")
    assert ManualModel(tmp_path).complete(request()).text == "late, but here"
    assert len(list(tmp_path.glob("*.prompt.json"))) == 1


def test_a_folder_that_cannot_be_made_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="folder cannot be made"):
        ManualModel(tmp_path / "file" / "inside")


def test_a_folder_that_goes_away_ends_the_model(tmp_path: Path) -> None:
    model = ManualModel(tmp_path / "folder")
    model.folder.rmdir()
    with pytest.raises(ModelError) as caught:
        model.complete(request())
    assert caught.value.fatal
