"""The webhook server: checks a delivery, stores it, says 202. Everything else is the workers' business."""

from __future__ import annotations

import asyncio
import logging
import re
import sqlite3
from collections.abc import AsyncIterator

from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from whet.bot.queue import Queue
from whet.bot.request import DeliveryPlan
from whet.bot.webhook import read_event, signed

LARGEST = 5 << 20
"""Bytes of a delivery. Those that are used have some ten thousand."""
SLOWEST = 10.0
"""Seconds for the body of a delivery to arrive, as GitHub gives an answer."""
DELIVERY = re.compile(r"[\w-]{8,64}")
log = logging.getLogger("whet.bot")


class Inbox:
    """Stores what several deliveries bring in one commit: the disk is waited for once for all that came meanwhile."""

    def __init__(self, queue: Queue) -> None:
        self._queue = queue
        self._waiting: list[tuple[str, DeliveryPlan, asyncio.Future[None]]] = []
        self._writing: asyncio.Task[None] | None = None

    async def put(self, delivery: str, order: DeliveryPlan) -> None:
        """Returns once the delivery is on the disk.

        Raises:
            sqlite3.Error: it could not be stored.
        """
        stored: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((delivery, order, stored))
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write())
        await stored

    async def _write(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting, []
            failed: sqlite3.Error | None = None
            try:
                await asyncio.to_thread(self._queue.accept, [(delivery, order) for delivery, order, _ in batch])
            except sqlite3.Error as error:
                failed = error
            for *_, stored in batch:
                if stored.cancelled():
                    continue
                if failed is None:
                    stored.set_result(None)
                else:
                    stored.set_exception(failed)


class Refusal(Exception):
    """A request that is not answered with 202."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


def make_app(queue: Queue, secret: bytes) -> Starlette:
    """Returns the server's application.

    Args:
        queue: takes what arrives.
        secret: of the webhook.
    """
    inbox = Inbox(queue)

    async def webhook(request: Request) -> Response:
        try:
            body = await _checked(request, secret)
            delivery, event = _named(request)
            try:
                order = read_event(event, body)
            except ValidationError as error:
                fault = error.errors()[0]
                where = ".".join(map(str, fault["loc"])) or "body"
                raise Refusal(400, f"{event}: {where}: {fault['type']}") from None
            if order != DeliveryPlan():
                await inbox.put(delivery, order)
        except Refusal as refusal:
            log.warning("refused a delivery: %s", refusal)
            return JSONResponse({"error": str(refusal)}, refusal.status)
        except sqlite3.Error as error:
            log.error("a delivery could not be stored: %s", error)
            return JSONResponse({"error": "it could not be stored; deliver it again"}, 503)
        return JSONResponse({"status": "ignored" if order == DeliveryPlan() else "accepted"}, 202)

    async def health(request: Request) -> Response:
        return JSONResponse({"status": "ok"})

    return Starlette(routes=[Route("/webhook", webhook, methods=["POST"]), Route("/health", health)])


async def _checked(request: Request, secret: bytes) -> bytes:
    """Returns the raw body, once its signature is right; nothing has looked into it before that."""
    signature = request.headers.get("x-hub-signature-256", "")
    if not signature:
        raise Refusal(401, "no X-Hub-Signature-256")
    declared = request.headers.get("content-length", "0")
    if not declared.isdigit() or int(declared) > LARGEST:
        raise Refusal(413, f"more than {LARGEST} bytes")
    try:
        async with asyncio.timeout(SLOWEST):
            body = await _read(request.stream())
    except (TimeoutError, ClientDisconnect):
        raise Refusal(408, "the body did not arrive") from None
    if not signed(secret, body, signature):
        raise Refusal(401, "the signature is not that of the body")
    return body


async def _read(stream: AsyncIterator[bytes]) -> bytes:
    parts, size = [], 0
    async for part in stream:
        size += len(part)
        if size > LARGEST:
            raise Refusal(413, f"more than {LARGEST} bytes")
        parts.append(part)
    return b"".join(parts)


def _named(request: Request) -> tuple[str, str]:
    """Returns the delivery's id and its event."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise Refusal(415, "the webhook's content type is not application/json; set it in the App's settings")
    delivery, event = request.headers.get("x-github-delivery", ""), request.headers.get("x-github-event", "")
    if not DELIVERY.fullmatch(delivery) or not event.isidentifier():
        raise Refusal(400, "X-GitHub-Delivery or X-GitHub-Event is missing or odd")
    return delivery, event
