"""The connection to the service: a request is repeated until there is an answer."""

from __future__ import annotations

import json
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from isoscope.errors import ServiceError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["ServiceConnection"]

#: Seconds between attempts, first and last.
_PAUSE, _LONGEST_PAUSE = 0.05, 2.0
#: The state of a service that reads its journal after a start.
_REPLAYING = "replaying"
#: Status codes after which the same request may succeed later: too many requests, no memory, not ready.
_LATER = {408, 429, 500, 502, 503, 504, 507}


class ServiceConnection:
    """A connection that is made again when it is lost, for at most `patience` seconds.

    A service that says that it replays its journal is waited for without limit.

    `on_retry` is called after every failed attempt that is repeated.
    """

    def __init__(
        self, url: str, token: str | None, *, patience: float, on_retry: Callable[[], None] | None = None
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UsageError(f"expected an address such as http://127.0.0.1:8642, found {url!r}")
        kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        self.url = url.rstrip("/")
        self._prefix = parts.path.rstrip("/")
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._connection = kind(parts.hostname, parts.port, timeout=30.0)
        self._patience, self._on_retry = patience, on_retry

    def request(
        self, method: str, path: str, body: bytes = b"", headers: dict[str, str] | None = None
    ) -> dict[str, Any]:
        """The answer of the service, after as many attempts as needed; raises ServiceError."""
        pause, end = _PAUSE, monotonic() + self._patience
        while True:
            try:
                status, wait, answer = self._attempt(method, path, body, headers or {})
                problem = f"answered {status}: {answer.get('error', '')}"
            except (OSError, HTTPException) as error:
                status, wait, answer = 503, 0.0, {}
                problem = f"cannot be reached: {error}"
            if status == 200:
                return answer
            if answer.get("state") == _REPLAYING:
                # It is there, and reads its own journal: its batches are not lost, and this ends by itself.
                end = monotonic() + self._patience
            if status not in _LATER or monotonic() >= end:
                raise ServiceError(f"the service at {self.url} {problem}")
            if self._on_retry is not None:
                self._on_retry()
            sleep(max(pause, wait))
            pause = min(2 * pause, _LONGEST_PAUSE)

    def close(self) -> None:
        """Ends the connection."""
        self._connection.close()

    def _attempt(
        self, method: str, path: str, body: bytes, headers: dict[str, str]
    ) -> tuple[int, float, dict[str, Any]]:
        """Status, seconds to wait before another attempt, and the answer. Raises OSError, HTTPException."""
        try:
            self._connection.request(method, self._prefix + path, body, {**self._headers, **headers})
            answer = self._connection.getresponse()
            text = answer.read()
        except (OSError, HTTPException):
            self._connection.close()
            raise
        document = _document(text)
        # The header has whole seconds only; the answer of a proxy may have nothing else.
        wait = document.get("retry_after") or answer.headers.get("Retry-After", "0")
        return answer.status, _seconds(wait), document


def _document(text: bytes) -> dict[str, Any]:
    """The answer as JSON, or its text as an error."""
    try:
        found = json.loads(text)
    except ValueError:
        return {"error": text[:200].decode(errors="replace")}
    return found if isinstance(found, dict) else {"error": str(found)[:200]}


def _seconds(text: object) -> float:
    try:
        return max(0.0, float(str(text)))
    except ValueError:
        return 0.0
