"""Clients that break the rules of HTTP connections: they flood, drip, or never finish."""

from __future__ import annotations

import socket
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING

from isoscope.live.batches import FORMS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

HOST = b"Host: localhost\r\n"
#: Beginnings of requests that never end: in the address, a name, a value, between headers, in a body.
UNFINISHED = {
    "nothing": b"",
    "empty lines": b"\r\n\r\n",
    "method": b"GE",
    "address": b"GET /v1/sta",
    "name": b"GET /v1/status HTTP/1.1\r\nHo",
    "value": b"GET /v1/status HTTP/1.1\r\nHost: local",
    "headers": b"GET /v1/status HTTP/1.1\r\n" + HOST,
    "body": b"POST /v1/batches HTTP/1.1\r\n%sContent-Length: 1000\r\nX-Isoscope-Collector: slow\r\n"
    b"X-Isoscope-Sequence: 1\r\nContent-Type: %s\r\n\r\n{" % (HOST, FORMS[1].encode()),
    "chunk": b"POST /v1/heartbeat HTTP/1.1\r\n%sTransfer-Encoding: chunked\r\n\r\nff\r\n{" % HOST,
    "body of an answered request": b"POST /nowhere HTTP/1.1\r\n%sContent-Length: 999999999\r\n\r\n{" % HOST,
}
_CHUNKED = b"POST /v1/heartbeat HTTP/1.1\r\n%sTransfer-Encoding: chunked\r\n\r\n" % HOST
#: Requests with a part that has no end: how it begins, and what is then repeated.
FLOODS = {
    "method": (b"", b"G" * 1000),
    "address": (b"GET /", b"a" * 1000),
    "name": (b"GET / HTTP/1.1\r\n", b"a" * 1000),
    "value": (b"GET / HTTP/1.1\r\nX: ", b"a" * 1000),
    "many headers": (b"GET / HTTP/1.1\r\n", b"X: y\r\n" * 100),
    "empty lines": (b"", b"\r\n" * 500),
    "chunk extension": (_CHUNKED + b"1;", b"a" * 1000),
    "trailer": (_CHUNKED + b"1\r\n{\r\n0\r\nX: ", b"a" * 1000),
    "many trailers": (_CHUNKED + b"1\r\n{\r\n0\r\n", b"X: y\r\n" * 100),
    "body of an answered request": (
        b"POST /nowhere HTTP/1.1\r\n%sContent-Length: 99999999999\r\n\r\n" % HOST,
        b"a" * 100_000,
    ),
}


def connected(host: str) -> socket.socket:
    name, port = host.split(":")
    return socket.create_connection((name, int(port)), timeout=30)


@contextmanager
def unfinished(host: str, starts: Iterable[bytes]) -> Iterator[list[socket.socket]]:
    """One connection for each start of a request; the server may close some of them."""
    with ExitStack() as stack:
        yield [_started(stack, host, start) for start in starts]


def _started(stack: ExitStack, host: str, start: bytes) -> socket.socket:
    connection = stack.enter_context(connected(host))
    with suppress(OSError):
        connection.sendall(start)
    return connection


def flood(host: str, start: bytes, repeated: bytes, size: int) -> tuple[int, bytes]:
    """Sends up to `size` bytes; how many the server let through, and its answer if that arrived."""
    sent, block = 0, repeated * (1 + 65536 // len(repeated))
    with connected(host) as connection:
        try:
            connection.sendall(start)
            while sent < size:
                connection.sendall(block)
                sent += len(block)
        except OSError:
            pass
        return sent, until_closed(connection)


def until_closed(connection: socket.socket) -> bytes:
    """All that the server says until it closes the connection."""
    said = b""
    with suppress(ConnectionError):
        while piece := connection.recv(65536):
            said += piece
    return said
