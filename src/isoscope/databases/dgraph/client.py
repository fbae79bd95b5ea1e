"""One HTTP connection to Dgraph, kept open, and the meaning of its errors."""

from __future__ import annotations

import http.client
import json
import socket
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from isoscope.databases.database import Aborted, ConnectionLost
from isoscope.errors import DatabaseError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Client"]

#: Seconds that a server may take to answer.
_PATIENCE = 30.0
#: What an alpha says that has just started, or that has lost a node which it needs.
_ALONE = ("No connection exists", "Unhealthy connection", "server is not ready")


class Client:
    """One connection."""

    def __init__(self, host: str, port: int, *, patience: float = _PATIENCE) -> None:
        self._connection = http.client.HTTPConnection(host, port, timeout=patience)

    def get(self, path: str) -> Any:
        """The answer to a question; raises `ConnectionLost` or `DatabaseError`."""
        return self._asked("GET", path, None, {})

    def post(self, path: str, body: str | dict[str, Any], *, kind: str = "application/json") -> Any:
        """The answer to a request; raises `Aborted`, too."""
        text = body if isinstance(body, str) else json.dumps(body)
        return self._asked("POST", path, text, {"Content-Type": kind})

    def close(self) -> None:
        """Closes the connection."""
        self._connection.close()

    def cut(self) -> None:
        """Cuts the connection, from any thread."""
        wire = self._connection.sock
        if wire is not None:
            with suppress(OSError):
                wire.shutdown(socket.SHUT_RDWR)

    def _asked(self, method: str, path: str, body: str | None, headers: dict[str, str]) -> Any:
        try:
            self._connection.request(method, path, body, headers)
            answer = json.loads(self._connection.getresponse().read())
        except (OSError, http.client.HTTPException, ValueError) as error:
            self._connection.close()
            raise ConnectionLost(
                getattr(error, "strerror", None) or str(error) or type(error).__name__
            ) from None
        if isinstance(answer, dict) and answer.get("errors"):
            raise _failure(answer["errors"][0])
        return answer


def _failure(error: Mapping[str, Any]) -> Exception:
    text = str(error.get("message", error))
    if "aborted" in text.lower() or error.get("extensions", {}).get("code") == "ErrorAborted":
        return Aborted("transaction has been aborted")
    if any(part in text for part in _ALONE):
        return ConnectionLost("the alpha has no connection to other nodes")
    return DatabaseError(f"Dgraph says: {text}")
