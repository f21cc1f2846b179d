"""``whet board serve``: a leaderboard on this machine, for this machine alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from whet.benchmarks.board.build import is_board
from whet.core.errors import UsageError

LOOPBACK = "127.0.0.1"
HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class _Handler(SimpleHTTPRequestHandler):
    """Gives out the files of one folder, and nothing that a link in it leads to."""

    server_version, sys_version = "whet", ""
    extensions_map = {  # noqa: RUF012 - the base class has it so
        ".html": "text/html; charset=utf-8",
        ".json": "application/json",
        "": "application/octet-stream",
    }

    def send_head(self) -> Any:
        # Another site's name that was made to lead here reads nothing.
        names = {f"{name}:{self.connection.getsockname()[1]}" for name in (LOOPBACK, "localhost")}
        if self.headers.get("Host") not in names:
            return self.send_error(403, "not a name of this machine")
        root = Path(self.directory).resolve()
        if not Path(self.translate_path(self.path)).resolve().is_relative_to(root):
            return self.send_error(404)
        return super().send_head()

    def list_directory(self, path: Any) -> None:
        self.send_error(404)

    def end_headers(self) -> None:
        for name, value in HEADERS.items():
            self.send_header(name, value)
        super().end_headers()

    def log_message(self, format: str, *words: Any) -> None:
        """Says nothing: what is asked for stands in the browser."""


@contextmanager
def serving(folder: Path, port: int) -> Iterator[tuple[ThreadingHTTPServer, str]]:
    """Opens a server on the loopback address and yields it with the address of the first page.

    Raises:
        UsageError: the folder holds no leaderboard, or the port is taken.
    """
    if not is_board(folder):
        raise UsageError(f"{folder} holds no leaderboard; make one: whet board build ROWS -o {folder}")
    try:
        server = ThreadingHTTPServer((LOOPBACK, port), partial(_Handler, directory=str(folder)))
    except (OSError, OverflowError) as error:
        raise UsageError(f"port {port} cannot be had: {getattr(error, 'strerror', None) or error}") from None
    server.daemon_threads = True
    with server:
        yield server, f"http://{LOOPBACK}:{server.server_address[1]}/"
