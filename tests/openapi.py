"""A mock of GitHub made of GitHub's own description: Prism, of npm, on the paths that the bot asks for."""

from __future__ import annotations

import json
import re
import shutil
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from paths import ROOT

FOLDER = ROOT / ".npm"
"""Ignored by git; made on first use, and kept."""
PACKAGES = ("@octokit/openapi@23", "@octokit/webhooks-examples@7", "@stoplight/prism-cli@5")
PATHS = {
    "/app": "get",
    "/app/installations/{installation_id}/access_tokens": "post",
    "/repos/{owner}/{repo}/pulls/{pull_number}": "get",
    "/repos/{owner}/{repo}/pulls": "get post",
    "/repos/{owner}/{repo}/pulls/{pull_number}/reviews": "get post",
    "/repos/{owner}/{repo}/collaborators/{username}/permission": "get",
    "/repos/{owner}/{repo}/issues/{issue_number}/comments": "get post",
    "/repos/{owner}/{repo}/issues/comments/{comment_id}": "patch",
    "/repos/{owner}/{repo}/issues/comments/{comment_id}/reactions": "post",
    "/repos/{owner}/{repo}/check-runs": "post",
    "/repos/{owner}/{repo}/check-runs/{check_run_id}": "patch",
    "/repos/{owner}/{repo}/commits/{ref}/check-runs": "get",
}
PREVIEWS = tuple(f"application/vnd.github{name}+json" for name in ("", ".v3", ".machine-man-preview"))
UP = 60.0
VIOLATION = re.compile(r"Violation: request[^\n]*|Request did not pass the validation rules")


def packages() -> Path:
    """Returns the folder of npm's packages, installed on first use; skips the test where that cannot be."""
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        pytest.skip("node and npm are not installed")
    done = FOLDER / "installed"
    if not done.exists() or done.read_text() != " ".join(PACKAGES):
        FOLDER.mkdir(exist_ok=True)
        words = [npm, "install", "--prefix", str(FOLDER), "--no-audit", "--no-fund", "--ignore-scripts", *PACKAGES]
        installed = subprocess.run(words, capture_output=True, text=True, timeout=540, check=False)
        if installed.returncode:
            pytest.skip(f"npm could not install {', '.join(PACKAGES)}: {installed.stderr.strip()[-200:]}")
        done.write_text(" ".join(PACKAGES))
    return FOLDER / "node_modules"


def slim(description: dict) -> dict:
    """Returns a description of `PATHS` alone, with the components that they reach."""
    kept = {}
    for path, methods in PATHS.items():
        item = description["paths"][path]
        kept[path] = {name: part for name, part in item.items() if name in methods.split() or name == "parameters"}
    components: dict[str, dict] = {}
    waiting = [kept]
    while waiting:
        for kind, name in references(waiting.pop()):
            if name not in components.setdefault(kind, {}):
                components[kind][name] = description["components"][kind][name]
                waiting.append(components[kind][name])
    slimmed = {"openapi": description["openapi"], "info": description["info"], "paths": kept, "components": components}
    adapt(slimmed)
    return slimmed


def adapt(part) -> None:
    """Fits what answers are to a mock.

    JSON can be had under the names of previews too, which clients still send and GitHub takes; and no answer names a
    next page, which would be at GitHub.
    """
    if isinstance(part, dict):
        if "description" in part and isinstance(part.get("headers"), dict):
            part["headers"].pop("Link", None)
        content = part.get("content")
        if isinstance(content, dict) and "application/json" in content and "description" in part:
            content |= dict.fromkeys(PREVIEWS, content["application/json"])
        for inner in part.values():
            adapt(inner)
    elif isinstance(part, list):
        for inner in part:
            adapt(inner)


def references(part) -> Iterator[tuple[str, str]]:
    """Yields what a part of a description refers to."""
    if isinstance(part, dict):
        if isinstance(part.get("$ref"), str):
            _, _, kind, name = part["$ref"].split("/")
            yield kind, name
        for inner in part.values():
            yield from references(inner)
    elif isinstance(part, list):
        for inner in part:
            yield from references(inner)


class Mock:
    """A mock that runs.

    Attributes:
        url: of it.
    """

    def __init__(self, url: str, log: Path) -> None:
        self.url = url
        self._log = log

    def violations(self) -> list[str]:
        """Returns what was wrong with the requests so far; what the mock's own answers lack does not count."""
        return VIOLATION.findall(re.sub(r"\x1b\[[0-9;]*m", "", self._log.read_text(errors="replace")))


@contextmanager
def mocked(folder: Path) -> Iterator[Mock]:
    """Starts the mock."""
    modules = packages()
    description = json.loads((modules / "@octokit/openapi/generated/api.github.com.json").read_text())
    spec, log = folder / "github.json", folder / "prism.log"
    spec.write_text(json.dumps(slim(description)))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with log.open("wb") as output:
        words = ["node", str(modules / ".bin/prism"), "mock", "--host", "127.0.0.1", "--port", str(port), str(spec)]
        mock = subprocess.Popen(words, stdout=output, stderr=subprocess.STDOUT)
    try:
        until = time.monotonic() + UP
        while b"Prism is listening" not in log.read_bytes():
            assert mock.poll() is None, log.read_text()
            assert time.monotonic() < until, log.read_text()
            time.sleep(0.1)
        urllib.request.urlopen(f"http://127.0.0.1:{port}/app", timeout=30).close()
        yield Mock(f"http://127.0.0.1:{port}", log)
    finally:
        mock.terminate()
        mock.wait(30)
