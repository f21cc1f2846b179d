"""The HTTP client of the adapters: whatever a server sends, its answer has an end."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import httpx2

from whet.agents.lanes import side_by_side

CONNECT = 5.0
"""Seconds until a connection stands."""
MOST_BYTES = 16 * 2**20
"""The longest answer. Streamed, a token takes some 300 bytes."""


class Endless(httpx2.ReadError):
    """The server went on sending beyond all bounds."""


class BoundedClient(httpx2.Client):
    """Ends answers that take too long, or hold too much; the time-outs of a socket bound only its silence.

    Args:
        silence: seconds that a server may send nothing.
        longest: seconds that one answer may take, from the request to its last byte.
        most: bytes of one answer.
    """

    def __init__(self, *, silence: float, longest: float, most: int = MOST_BYTES) -> None:
        super().__init__(follow_redirects=True, timeout=httpx2.Timeout(silence, connect=CONNECT))
        self._longest = longest
        self._most = most

    def send(self, request: httpx2.Request, *, stream: bool = False, **options: Any) -> httpx2.Response:
        """Sends a request; see `httpx2.Client.send`.

        Raises:
            Endless: nothing of the answer's body came in time.
        """
        end = time.monotonic() + self._longest
        # Nothing else ends the look-up of a name, or a header that comes one byte at a time.
        send = partial(super().send, request, stream=True, **options)
        came = side_by_side([send], 1, self._longest)
        if not came:
            raise Endless(f"no answer within {self._longest:g} s", request=request)
        response = came[0]
        response.stream = _Bounded(response, end, self._most)
        if not stream:
            response.read()
        return response


class _Bounded(httpx2.SyncByteStream):
    def __init__(self, response: httpx2.Response, end: float, most: int) -> None:
        assert isinstance(response.stream, httpx2.SyncByteStream)
        self._stream = response.stream
        self._request = response.request
        self._end = end
        self._left = most

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._stream:
            self._left -= len(chunk)
            if self._left < 0 or time.monotonic() > self._end:
                raise Endless("the answer does not end", request=self._request)
            yield chunk

    def close(self) -> None:
        self._stream.close()
