"""How soon the bot acknowledges a webhook, and whether it loses or doubles one: a real server, on the loopback."""

from __future__ import annotations

import hashlib
import hmac
import http.client
import itertools
import json
import math
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

RATE = 200
"""Deliveries a second."""
SECONDS = 10.0
"""Seconds that deliveries arrive: 2000 at `RATE`, of which 20 lie beyond the 99th percentile. A longer stretch steadies
it."""
GOAL = 0.05  # seconds to the acknowledgement, at the 99th percentile; printed beside the measured ones, decides nothing
SENDERS = 8
"""Connections at once: each has 40 ms a delivery at `RATE`. With fewer, a late answer delays the delivery behind it,
whose wait grows; more compete with the server for processors."""
AGAIN = 10
"""Of so many deliveries one is sent twice, as GitHub does where an answer was lost."""
SECRET = "a secret for the measurement"
PADDING = 20_000
"""Bytes of what the bot does not read, as GitHub's payloads hold them."""


@dataclass(slots=True)
class Sent:
    """What the senders saw.

    Attributes:
        waits: seconds from the moment a delivery was due until its acknowledgement.
        ids: of deliveries that were acknowledged.
        refused: answers other than 202.
    """

    waits: list[float] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    refused: int = 0


def report(seconds: float = SECONDS, rate: int = RATE) -> Iterator[str]:
    """Yields the time to the acknowledgement, and what became of the deliveries.

    Args:
        seconds: that deliveries arrive.
        rate: deliveries a second.
    """
    with tempfile.TemporaryDirectory(prefix="whet-self-bot-") as folder:
        environment = _environment(Path(folder))
        with _serving(environment) as port:
            sent = send(port, seconds, rate)
        counted = subprocess.run(
            [sys.executable, "-m", "whet", "bot", "queue", "--json"],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
    counts = json.loads(counted.stdout)
    waits = sorted(sent.waits)
    middle, high, longest = (waits[math.ceil(share * len(waits)) - 1] * 1e3 for share in (0.5, 0.99, 1.0))
    distinct, jobs = len(set(sent.ids)), sum(counts["jobs"].values())
    yield (
        f"acknowledged, {len(waits)} deliveries at {rate} a second, {len(os.sched_getaffinity(0))} cores: "
        f"median {middle:.1f} ms, 99th percentile {high:.1f} ms (goal {GOAL * 1e3:.0f}), longest {longest:.1f} ms"
    )
    yield (
        f"{distinct} distinct deliveries acknowledged, {sent.refused} refused; stored {counts['deliveries']}: "
        f"{distinct - counts['deliveries']} lost, {jobs - distinct} doubled"
    )


def send(port: int, seconds: float, rate: int) -> Sent:
    """Sends deliveries at a steady rate, whether or not earlier ones were answered, from several connections."""
    due = itertools.count()
    begin, total = time.perf_counter() + 0.2, int(seconds * rate)
    sent, lock = Sent(), threading.Lock()

    def work() -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        while (index := next(due)) < total:
            when = begin + index / rate
            body, headers = delivery(index - 1 if index % AGAIN == AGAIN - 1 else index)
            time.sleep(max(0.0, when - time.perf_counter()))
            connection.request("POST", "/webhook", body, headers)
            answer = connection.getresponse()
            answer.read()
            with lock:
                sent.waits.append(time.perf_counter() - when)
                if answer.status == 202:
                    sent.ids.append(headers["X-GitHub-Delivery"])
                else:
                    sent.refused += 1
        connection.close()

    senders = [threading.Thread(target=work) for _ in range(SENDERS)]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join()
    return sent


def delivery(index: int) -> tuple[bytes, dict[str, str]]:
    """Returns the body and the headers of a delivery: a new pull request each."""
    payload = {
        "action": "opened",
        "number": index + 1,
        "pull_request": {"number": index + 1, "head": {"sha": f"{index:040x}"}, "body": "x" * PADDING},
        "repository": {"full_name": f"ada/tools-{index % 50}"},
        "installation": {"id": 7},
        "sender": {"login": "ada", "type": "User"},
    }
    body = json.dumps(payload).encode()
    return body, {
        "Content-Type": "application/json",
        "X-GitHub-Event": "pull_request",
        "X-GitHub-Delivery": f"delivery-{index:08d}",
        "X-Hub-Signature-256": f"sha256={hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()}",
    }


def _environment(folder: Path) -> dict[str, str]:
    key = folder / "key.pem"
    key.write_text("-----BEGIN RSA PRIVATE KEY-----\n", encoding="ascii")
    return {
        **os.environ,
        "WHET_HOME": str(folder / "home"),
        "WHET_APP_ID": "1",
        "WHET_APP_KEY_FILE": str(key),
        "WHET_WEBHOOK_SECRET": SECRET,
    }


@contextmanager
def _serving(environment: dict[str, str]) -> Iterator[int]:
    """Starts a server that accepts and works on nothing; yields its port."""
    words = [sys.executable, "-m", "whet", "bot", "serve", "--port", "0", "--processes", "0"]
    server = subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        found = re.match(r"http://[^:]+:(\d+)/", server.stdout.readline())
        if found is None:
            raise RuntimeError("the server did not start")
        yield int(found[1])
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(30)
