"""Requests to ArangoDB over HTTP, as its documentation of version 3.11 describes them.

No ArangoDB server could be had where this was written: the exchange is tested against recorded answers only.
"""

from __future__ import annotations

import http.client
import json
import ssl
from base64 import b64encode
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote, urlsplit

from isoscope.errors import DatabaseError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["ArangoError", "ArangoHttp", "Reply"]

_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Reply:
    """The status, the headers in lower case, and the body of an answer."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def document(self) -> Any:
        """The body as JSON; an empty object if there is none."""
        return json.loads(self.body) if self.body.strip() else {}


@dataclass(eq=False)
class ArangoError(Exception):
    """ArangoDB refused a request; `number` is its own error number."""

    status: int
    number: int
    message: str

    def __str__(self) -> str:
        return f"{self.message} (error {self.number})"


class ArangoHttp:
    """One connection, at `http://[USER:PASSWORD@]HOST:PORT[/DATABASE]`."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        self.where = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
        self.database = unquote(parts.path.strip("/")) or "_system"
        self._headers = {"Content-Type": "application/json"}
        if parts.username:
            user = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
            self._headers["Authorization"] = f"Basic {b64encode(user.encode()).decode()}"
        host, port = parts.hostname or "127.0.0.1", parts.port or 8529
        if parts.scheme == "https":
            context = ssl.create_default_context()
            self._connection: http.client.HTTPConnection = http.client.HTTPSConnection(
                host, port, timeout=_SECONDS, context=context
            )
        else:
            self._connection = http.client.HTTPConnection(host, port, timeout=_SECONDS)

    def request(
        self, method: str, path: str, body: object = None, *, transaction: str | None = None
    ) -> Reply:
        """The answer to a request within the database. Raises ArangoError if it is a refusal.

        OSError and http.client.HTTPException mean that it is unknown whether the request took effect.
        """
        headers = self._headers | ({"x-arango-trx-id": transaction} if transaction else {})
        data = None if body is None else json.dumps(body).encode()
        target = f"/_db/{quote(self.database, safe='')}{path}"
        self._connection.request(method, target, body=data, headers=headers)
        answer = self._connection.getresponse()
        named = {name.lower(): value for name, value in answer.getheaders()}
        reply = Reply(answer.status, named, answer.read())
        if reply.status >= http.client.BAD_REQUEST:
            raise _refusal(reply)
        return reply

    def query(
        self, text: str, parameters: Mapping[str, Any] | None = None, *, transaction: str | None = None
    ) -> Iterator[Any]:
        """The results of an AQL query, batch by batch."""
        asked = {"query": text, "bindVars": dict(parameters or {}), "batchSize": 1000}
        found = self.request("POST", "/_api/cursor", asked, transaction=transaction).document()
        yield from found["result"]
        while found.get("hasMore"):
            path = f"/_api/cursor/{quote(str(found['id']), safe='')}"
            found = self.request("POST", path, transaction=transaction).document()
            yield from found["result"]

    def version(self) -> str:
        """The version of the server. Raises DatabaseError if there is none at the address."""
        try:
            said: str = self.request("GET", "/_api/version").document()["version"]
        except (OSError, http.client.HTTPException, ArangoError, ValueError, KeyError) as error:
            reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
            hint = "does ArangoDB run there, and is the user allowed to use it?"
            raise DatabaseError(f"cannot use {self.where}: {reason}\n\nhint: {hint}") from None
        return said

    def close(self) -> None:
        """Ends the connection."""
        self._connection.close()


def _refusal(reply: Reply) -> ArangoError:
    try:
        said = reply.document()
    except ValueError:
        said = {}
    if not isinstance(said, dict):
        said = {}
    message = str(said.get("errorMessage") or f"status {reply.status}")
    return ArangoError(reply.status, int(said.get("errorNum", 0)), message)
