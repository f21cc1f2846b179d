"""Whether anybody listens where a model is served: asked before a run spends anything on its baseline."""

from __future__ import annotations

import math
import socket
import time
from functools import partial
from typing import Protocol, runtime_checkable
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from whet.agents.lanes import side_by_side
from whet.agents.models.base import Model
from whet.agents.models.in_turn import parts
from whet.core.errors import UnaskedError

PAUSES = (0.0, 0.5, 1.0)
"""Seconds before each attempt: a server that is being started, or a lost packet, is given a second chance."""
ATTEMPT_SECONDS = 2.0
"""Of one attempt, the look-up of the name included. With the pauses all of them take at most 7.5 s, and what comes
before them has the rest of 10 s."""
PORTS = {"http": 80, "https": 443}


@runtime_checkable
class Served(Protocol):
    """A model behind a server."""

    @property
    def name(self) -> str:
        """As the user writes it."""

    @property
    def address(self) -> str:
        """The URL of its server."""


def expect_reachable(*models: Model) -> None:
    """Returns once a connection to the server of each model stood; of several in turn, to that of the first one.

    All are tried side by side. Nothing is asked of a free model, nor where a proxy stands between.

    Raises:
        UnaskedError: there is no such server, nobody listens there, or no way leads there.
    """
    firsts = {first.name: first for first in (parts(model)[0] for model in models) if isinstance(first, Served)}
    lines = side_by_side([partial(_unreached, first) for first in firsts.values()], len(firsts), math.inf)
    if line := next(filter(None, (lines[place] for place in sorted(lines))), ""):
        raise UnaskedError(line)


def _unreached(model: Served) -> str:
    """Returns what is wrong with the way to the server of a model; empty where a connection stood."""
    url = urlsplit(model.address)
    if url.hostname is None or url.scheme not in PORTS or _proxied(url.scheme, url.hostname):
        return ""
    why = _refusal(url.hostname, url.port or PORTS[url.scheme])
    return f"{model.name}: no connection ({why}); is {model.address} right, and is its server up?" if why else ""


def _proxied(scheme: str, host: str) -> bool:
    proxies = getproxies()
    return bool(proxies.get(scheme) or proxies.get("all")) and not proxy_bypass(host)


def _refusal(host: str, port: int) -> str:
    """Returns why no attempt led to a connection; empty where one did."""
    why = ""
    for pause in PAUSES:
        time.sleep(pause)
        # In a thread: nothing else bounds the look-up of a name.
        came = side_by_side([partial(_connect, host, port)], 1, ATTEMPT_SECONDS)
        why = came.get(0, f"no answer within {ATTEMPT_SECONDS:g} s")
        if not why:
            break
    return why


def _connect(host: str, port: int) -> str:
    try:
        socket.create_connection((host, port), ATTEMPT_SECONDS).close()
    except (OSError, UnicodeError) as error:
        return str(error)
    return ""
