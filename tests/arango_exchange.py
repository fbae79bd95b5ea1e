"""Answers to requests as ArangoDB's documentation shows them: a server that replays an exchange."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


@dataclass
class Exchange:
    """A request that must come, and its answer; `body` and `transaction` are compared if they are given."""

    method: str
    path: str
    answer: Any = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    transaction: str | None = None


def refused(method: str, path: str, number: int, message: str, status: int = 409) -> Exchange:
    return Exchange(method, path, {"error": True, "errorNum": number, "errorMessage": message}, status)


@contextmanager
def replayed(exchanges: Sequence[Exchange]) -> Iterator[str]:
    """The address of a server that expects these requests, in this order; all of them must have come."""
    left = list(exchanges)
    faults: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            expected = left.pop(0) if left else Exchange("", "")
            faults.extend(_faults(expected, self.command, self.path, body, dict(self.headers)))
            answer = expected.answer
            data = answer if isinstance(answer, bytes) else json.dumps(answer or {}).encode()
            self.send_response(expected.status)
            for name, value in expected.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _answer  # noqa: N815

        def log_message(self, *_arguments: object) -> None:
            """Prints nothing."""

    # The database and its sessions have connections of their own.
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.block_on_close = False
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
    assert faults == []
    assert left == []


def _faults(
    expected: Exchange, method: str, path: str, body: Any, headers: Mapping[str, Any]
) -> Iterator[str]:
    shown = path.removeprefix("/_db/_system")
    if (method, shown) != (expected.method, expected.path):
        yield f"expected {expected.method} {expected.path}, found {method} {shown}"
    if expected.body is not None and body != expected.body:
        yield f"{path}: expected {expected.body}, found {body}"
    if expected.transaction is not None and headers.get("x-arango-trx-id") != expected.transaction:
        yield f"{path}: expected transaction {expected.transaction}"
