"""One HTTP connection within limits: bytes, number and time of headers, and connections of one client.

The limits hold before any header is looked at, so also before the token is known. A client that breaks one
gets an answer and loses its connection; no other client waits for it.
"""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from isoscope.live.body_intake import late, whole_number

if TYPE_CHECKING:
    from asyncio import TimerHandle, Transport

    from uvicorn._types import ASGI3Application
    from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

    from isoscope.live.access import Access

__all__ = ["BoundedProtocol", "Connections"]

#: Bytes of framing, such as lines with the sizes of chunks, that one byte of a body pays for.
_FRAMING = 8
#: Bytes that are parsed at once: between two such pieces the limits are compared.
_PIECE = 1 << 16
#: Bytes that a client may still send after its answer, so that it can read the answer.
_AFTER_ANSWER = 64 << 20
_AFTER_REFUSAL = 1 << 20
#: Seconds for which a refused client may read its answer.
_LINGER = 1.0
#: Requests of one connection that may wait for the answer before them.
_PIPELINE = 32
#: Bytes of an unfinished body that wait for the rest before the application is called.
_HELD = 1 << 16


class RefusedHeadError(Exception):
    """A request that is refused before it is complete; only the parser sees this."""


class Connections:
    """The open connections, at most so many of one client and of all.

    One connection too many closes another one: of those that wait for their client the one that has waited
    longest, else the one whose request is the oldest. New requests are therefore answered while a client
    holds many unfinished ones.
    """

    def __init__(self, *, of_client: int, total: int) -> None:
        self._of_client, self._total = of_client, total
        #: The connections of each client, the one whose client was silent longest first.
        self._clients: dict[str, dict[BoundedProtocol, None]] = {}

    def __len__(self) -> int:
        return sum(map(len, self._clients.values()))

    def add(self, connection: BoundedProtocol) -> None:
        """Adds a connection, and closes another one if there are too many."""
        own = self._clients.setdefault(connection.client_name, {})
        if len(own) >= self._of_client:
            self._close_one(own)
        elif len(self) >= self._total:
            self._close_one(max(self._clients.values(), key=len))
        own[connection] = None

    def touch(self, connection: BoundedProtocol) -> None:
        """Its client has just been heard or answered: all its other connections are older."""
        own = self._clients.get(connection.client_name, {})
        if connection in own:
            del own[connection]
            own[connection] = None

    def remove(self, connection: BoundedProtocol) -> None:
        """Removes a connection; a second call does nothing."""
        own = self._clients.get(connection.client_name, {})
        own.pop(connection, None)
        if not own:
            self._clients.pop(connection.client_name, None)

    def _close_one(self, own: dict[BoundedProtocol, None]) -> None:
        oldest = next((one for one in own if one.is_waiting), next(iter(own)))
        # The entry of the client stays in the table: its new connection follows.
        del own[oldest]
        oldest.transport.abort()


class BoundedProtocol(HttpToolsProtocol):
    """uvicorn's protocol, which has no limits of its own before the application is called."""

    def __init__(self, *, connections: Connections, access: Access, **given: Any) -> None:
        super().__init__(**given)
        self._connections, self._access = connections, access
        self._deadline: TimerHandle | None = None
        self._refusal: tuple[int, str] | None = None
        self._is_refused = self._is_in_head = False
        #: Whether the request has arrived whole, and the call of the application that waits for that.
        self._is_whole = False
        self._held: tuple[RequestResponseCycle, ASGI3Application] | None = None
        #: Bytes since the last progress, bytes and number of headers, bytes that came after the answer.
        self._unproductive = self._head = self._count = self._late = 0

    @property
    def client_name(self) -> str:
        """The address of the client, without its port."""
        return self.client[0] if self.client else ""

    @property
    def is_waiting(self) -> bool:
        """Whether it is the client's turn: its request is not complete, or the last one is answered."""
        return not self._is_whole or self._is_answered

    @property
    def _is_answered(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        """A new connection, whose first headers must come in time."""
        super().connection_made(transport)
        self._connections.add(self)
        self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is gone."""
        self._connections.remove(self)
        self._held = None
        self._stop_deadline()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parses what came, piece by piece, until a limit is reached."""
        for at in range(0, len(data), _PIECE):
            if self._is_refused or self.transport.is_closing():
                self._count_late(len(data) - at, _AFTER_REFUSAL)
                return
            piece = data[at : at + _PIECE]
            self._unproductive += len(piece)
            if self._is_answered and self._deadline is None:
                self._expect_head()
            super().data_received(piece)
            if self._unproductive > self._access.head and not self._is_refused:
                self._refuse(431, f"expected at most {self._access.head:,} bytes of headers")

    def on_message_begin(self) -> None:
        """The first byte of a request."""
        super().on_message_begin()
        self._head = self._count = 0
        self._is_whole = False
        self._connections.touch(self)
        self._is_in_head = True
        if self._deadline is None:
            self._expect_head()

    def on_url(self, url: bytes) -> None:
        """A part of the address."""
        self._add_to_head(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header, or a trailer after a body in chunks."""
        self._count += 1
        self._add_to_head(len(name) + len(value) + len(b": \r\n"))
        if self._count > self._access.head_count:
            self._refusal = (431, f"expected at most {self._access.head_count} headers")
            raise RefusedHeadError
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """All headers are there: from now on the application watches the time."""
        self._is_in_head = False
        self._unproductive = 0
        self._stop_deadline()
        if len(self.pipeline) >= _PIPELINE:
            self._refusal = (429, f"expected at most {_PIPELINE} requests before the first answer")
            raise RefusedHeadError
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """A part of a body: progress, which pays for its framing."""
        self._unproductive = max(0, self._unproductive - (1 + _FRAMING) * len(body))
        # A body that goes on arriving is younger than one that does not.
        self._connections.touch(self)
        super().on_body(body)
        if len(self.cycle.body) >= _HELD:
            self._start_held()
        if self.cycle.response_complete:
            self._count_late(len(body), _AFTER_ANSWER)

    def on_message_complete(self) -> None:
        """The request is complete."""
        self._is_whole = True
        self._unproductive = 0
        super().on_message_complete()
        self._start_held()
        if self.cycle.response_complete:
            self._stop_deadline()

    def on_response_complete(self) -> None:
        """The answer is sent; the rest of a request that was answered early must come in time."""
        super().on_response_complete()
        self._connections.touch(self)
        if not self._is_whole and self._deadline is None and not self.transport.is_closing():
            self._expect_head()

    def send_400_response(self, msg: str) -> None:
        """Called by uvicorn when the parser stopped."""
        self._refuse(*(self._refusal or (400, msg)))

    def shutdown(self) -> None:
        """The server ends: it waits for no body that the application has not seen."""
        if self._held is not None:
            self.transport.abort()
            return
        super().shutdown()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        """Calls the application when a small body is whole: until then it costs a buffer and no task."""
        cycle.scope["state"]["began"] = self.loop.time()
        if cycle is not self.cycle or self._is_whole or len(cycle.body) >= _HELD or self._is_too_long():
            super()._start_asgi_task(cycle, app)
            return
        self._held = (cycle, app)
        self._deadline = self.loop.call_later(self._access.patience, self._expired)
        if cycle.waiting_for_100_continue:
            cycle.waiting_for_100_continue = False
            self.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    def _start_held(self) -> None:
        if self._held is None:
            return
        held, self._held = self._held, None
        self._stop_deadline()
        super()._start_asgi_task(*held)

    def _is_too_long(self) -> bool:
        """Whether the announced length is refused at once."""
        announced = dict(self.headers).get(b"content-length", b"0").decode("latin-1")
        length = whole_number(announced)
        return length is None or length > self._access.body

    def _add_to_head(self, size: int) -> None:
        self._head += size
        if self._head > self._access.head:
            self._refusal = (431, f"expected at most {self._access.head:,} bytes of headers")
            raise RefusedHeadError

    def _count_late(self, size: int, limit: int) -> None:
        self._late += size
        if self._late > limit:
            self.transport.abort()

    def _expect_head(self) -> None:
        self._deadline = self.loop.call_later(self._access.head_patience, self._expired)

    def _stop_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _expired(self) -> None:
        self._deadline = None
        if self._is_in_head:
            self._refuse(408, f"the headers did not come in {self._access.head_patience:g} seconds")
        elif self._held is not None:
            self._refuse(408, late(self._access.patience))
        else:
            self.transport.abort()

    def _refuse(self, status: int, reason: str) -> None:
        """Answers, and closes the connection when the client has had the time to read the answer."""
        self._stop_deadline()
        self._unset_keepalive_if_required()
        self._is_refused = True
        is_free = self._is_answered or self._held is not None
        self._held = None
        if self.transport.is_closing():
            return
        if not is_free:
            # The answer to an earlier request is under way: another one would come in the middle of it.
            self.transport.abort()
            return
        self.transport.write(_answer(status, reason))
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self._deadline = self.loop.call_later(_LINGER, self.transport.abort)


def _answer(status: int, reason: str) -> bytes:
    body = json.dumps({"error": reason}).encode()
    head = (
        f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n"
        "content-type: application/json\r\n"
        f"content-length: {len(body)}\r\n"
        "connection: close\r\n\r\n"
    )
    return head.encode() + body
