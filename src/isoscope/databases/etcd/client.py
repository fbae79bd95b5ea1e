"""Requests to etcd's JSON gateway; keys and values are base64 there.

An answer is either the document, or one of two failures: the request was refused before it did anything, or
it is not known whether it took effect.
"""

from __future__ import annotations

import json
import socket
from base64 import b64decode, b64encode
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from typing import TYPE_CHECKING, Any

from isoscope.databases.database import ConnectionLost

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Client", "Refused", "decoded", "encoded"]

#: Seconds that an answer may take.
PATIENCE = 10.0


class Refused(Exception):  # noqa: N818 - an event
    """The server answered with an error; a request that changes something may still take effect."""


class Client:
    """A connection to one node. Raises `ConnectionLost` if there is none."""

    def __init__(self, host: str, port: int) -> None:
        self._connection = HTTPConnection(host, port, timeout=PATIENCE)
        # A lost connection must not be replaced in silence.
        self._connection.auto_open = 0
        try:
            self._connection.connect()
        except OSError as error:
            raise ConnectionLost(_reason(error)) from None

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """The answer. Raises `Refused` or `ConnectionLost`."""
        try:
            self._connection.request("POST", f"/v3/{path}", json.dumps(body))
            response = self._connection.getresponse()
            content = response.read()
        except (OSError, HTTPException) as error:
            self.close()
            raise ConnectionLost(_reason(error)) from None
        return _document(response.status, content)

    def watch(self, body: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """The answers of a watch, without an end. Raises as `post` does."""
        try:
            self._connection.request("POST", "/v3/watch", json.dumps({"create_request": body}))
            response = self._connection.getresponse()
            while line := response.readline():
                yield _document(response.status, line)["result"]
        except (OSError, HTTPException) as error:
            raise ConnectionLost(_reason(error)) from None
        finally:
            self.close()

    def cut(self) -> None:
        """Cuts the connection, from any thread."""
        if self._connection.sock is not None:
            with suppress(OSError):
                self._connection.sock.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Closes the connection; never fails."""
        with suppress(OSError):
            self._connection.close()


def encoded(text: str) -> str:
    """A key or a value as the gateway wants it."""
    return b64encode(text.encode()).decode()


def decoded(text: str) -> str:
    """A key or a value of the gateway."""
    return b64decode(text).decode()


def _document(status: int, content: bytes) -> dict[str, Any]:
    try:
        found = json.loads(content)
    except ValueError:
        raise ConnectionLost("the answer was cut off") from None
    if status != 200 or "error" in found:
        error = found.get("error", found)
        said = error.get("message", "") if isinstance(error, dict) else str(error)
        raise Refused(said or f"status {status}")
    return found if isinstance(found, dict) else {}


def _reason(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "no answer in time"
    return "the connection is refused" if isinstance(error, ConnectionRefusedError) else "lost connection"
