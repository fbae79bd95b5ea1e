"""ArangoDB by stream transactions over HTTP, with the order of versions from its write-ahead log.

Written from the documented protocol and never run against a server: none could be had. A single server has a
write-ahead log to read; a cluster has none, and its lists show their order.
"""

from __future__ import annotations

import json
from contextlib import suppress
from http.client import HTTPException
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn
from urllib.parse import quote
from uuid import uuid4

from isoscope.arango_http import ArangoError, ArangoHttp
from isoscope.databases.database import Aborted, ConnectionLost, Database, Isolation
from isoscope.errors import DatabaseError, UsageError
from isoscope.levels import Level

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from isoscope.databases.database import Content, Found, Leftover
    from isoscope.history import Timestamp

__all__ = ["DATABASE", "ArangoDatabase", "ArangoSession", "version_rows"]

#: Error numbers of ArangoDB after which a transaction has not taken effect.
_ABORTED = {
    18: "lock timeout",
    28: "resource limit",
    29: "deadlock",
    1200: "write-write conflict",
    1210: "unique constraint",
    1650: "transaction internal",
    1653: "transaction aborted",
    1655: "transaction not found",
}
_NO_DOCUMENT = 1202
#: Types of log records.
_COMMIT, _ROW = 2201, 2300
#: Attributes of documents: the names of the thesis for registers, and a list.
_REGISTER, _LIST = "rwAttr", "list"
_CHUNK = 128 * 2**20


class ArangoDatabase(Database):
    """A collection of its own in a server, or in a cluster, that is running."""

    NAME: ClassVar[str] = "arangodb"
    ISOLATIONS: ClassVar[Mapping[str, Isolation]] = {
        "stream": Isolation(
            meaning="stream transactions; snapshots on a single server, no promise in a cluster",
            promises=(Level.SNAPSHOT_ISOLATION,),
        ),
    }
    SETTINGS: ClassVar[Mapping[str, str]] = {
        "replication": "copies of each shard, in a cluster",
        "shards": "shards of the collection, in a cluster",
    }

    def __init__(self, isolation: str, *, url: str | None = None, settings: Mapping[str, str]) -> None:
        wrong = [name for name, value in settings.items() if not value.isdecimal()]
        if wrong:
            raise UsageError(f"--set {wrong[0]}: expected a number, found {settings[wrong[0]]}")
        self.isolation = isolation
        self._url = _address(url or "")
        self._settings = settings
        self._collection = f"isoscope_{uuid4().hex[:8]}"
        self._content: Content = "register"
        self._is_cluster = False
        self._first_tick = "0"
        self._initial: set[tuple[int, int]] = set()
        self._http: ArangoHttp | None = None

    @property
    def promises(self) -> tuple[Level, ...]:
        """Those of a single server; a cluster promises none."""
        return () if self._is_cluster else self.ISOLATIONS[self.isolation].promises

    def open(self, content: Content) -> str:
        """Makes the collection."""
        if not self._url:
            hint = "give its URL: arangodb://USER:PASSWORD@HOST:PORT/DATABASE"
            raise DatabaseError(f"ArangoDB is not started by isoscope\n\nhint: {hint}")
        self._content = content
        http = self._http = ArangoHttp(self._url)
        version = http.version()
        with _errors():
            self._is_cluster = http.request("GET", "/_admin/server/role").document()["role"] != "SINGLE"
            if not self._is_cluster:
                self._first_tick = http.request("GET", "/_api/wal/lastTick").document()["tick"]
            names = {"replication": "replicationFactor", "shards": "numberOfShards"}
            numbers = {names[name]: int(value) for name, value in self._settings.items()}
            http.request("POST", "/_api/collection", {"name": self._collection, **numbers})
        return f"ArangoDB {version}{' (cluster)' if self._is_cluster else ''}"

    def insert(self, rows: Iterable[tuple[int, int]]) -> None:
        """Commits rows with their initial values."""
        kept = list(rows)
        self._initial |= set(kept)
        documents = [_document(self._content, key, value, is_first=True) for key, value in kept]
        with _errors():
            self._opened().request("POST", f"/_api/document/{self._collection}?silent=true", documents)

    def session(self) -> ArangoSession:
        """A new connection."""
        return ArangoSession(ArangoHttp(self._url), self._collection, self._content)

    def version_order(self) -> Iterable[tuple[int, int]] | None:
        """Committed versions by the write-ahead log; None in a cluster, which shows no log."""
        if self._is_cluster or self._content == "list":
            return None
        with _errors():
            rows = list(version_rows(self._log(), self._collection))
        return [row for row in rows if row not in self._initial]

    def close(self) -> None:
        """Drops the collection."""
        if self._http is not None:
            # The server may be gone, or may never have made it.
            with suppress(ArangoError, OSError, HTTPException):
                self._http.request("DELETE", f"/_api/collection/{self._collection}")
            self._http.close()

    def clean(self) -> list[Leftover]:
        """Nothing is known of other runs."""
        raise UsageError(
            "collections of killed runs on ArangoDB are not found yet: they begin with isoscope_"
        )

    def _opened(self) -> ArangoHttp:
        if self._http is None:
            raise DatabaseError("the database is not open")
        return self._http

    def _log(self) -> Iterator[dict[str, Any]]:
        """The records since `open`, chunk by chunk."""
        tick, is_more = self._first_tick, True
        while is_more:
            path = f"/_api/wal/tail?from={quote(tick, safe='')}&chunkSize={_CHUNK}"
            reply = self._opened().request("GET", path)
            if reply.headers.get("x-arango-replication-frompresent", "true") == "false":
                raise DatabaseError("the write-ahead log no longer has the beginning of the run")
            yield from map(json.loads, reply.body.splitlines())
            tick = reply.headers.get("x-arango-replication-lastincluded", tick)
            is_more = reply.headers.get("x-arango-replication-checkmore") == "true"


def version_rows(records: Iterable[dict[str, Any]], collection: str) -> Iterator[tuple[int, int]]:
    """Versions (key, value) of committed transactions in the order of the log; of several by one, the last.

    A row without a transaction, with the number 0, was committed by itself.
    """
    rows: list[tuple[str, int, int]] = []
    committed = {"0"}
    for record in records:
        transaction, data = str(record.get("tid", "0")), record.get("data") or {}
        if record.get("type") == _COMMIT:
            committed.add(transaction)
        elif record.get("type") == _ROW and str(data.get("_id", "")).startswith(f"{collection}/"):
            rows.append((transaction, int(data["_key"]), data[_REGISTER]))
    last = {
        (transaction, key): place for place, (transaction, key, _) in enumerate(rows) if transaction != "0"
    }
    for place, (transaction, key, value) in enumerate(rows):
        if transaction in committed and last.get((transaction, key), place) == place:
            yield key, value


class ArangoSession:
    """A connection with one stream transaction at a time."""

    def __init__(self, http: ArangoHttp, collection: str, content: Content) -> None:
        self._http, self._collection, self._content = http, collection, content
        self._transaction: str | None = None

    def begin(self) -> None:
        """Starts a stream transaction that may write the collection."""
        self.rollback()
        asked = {"collections": {"write": [self._collection]}}
        with _errors():
            begun = self._http.request("POST", "/_api/transaction/begin", asked).document()
        self._transaction = str(begun["result"]["id"])

    def read(self, key: int) -> Found:
        """What the document `key` holds."""
        try:
            found = self._request("GET", f"/_api/document/{self._collection}/{key}")
        except _NoDocumentError:
            return None
        return tuple(found[_LIST]) if self._content == "list" else found[_REGISTER]

    def write(self, key: int, value: int) -> None:
        """Overwrites a register."""
        self._request("PATCH", f"/_api/document/{self._collection}/{key}?silent=true", {_REGISTER: value})

    def append(self, key: int, value: int) -> None:
        """Appends to a list in one AQL statement."""
        text = (
            "FOR one IN @@collection FILTER one._key == @key UPDATE one WITH {list: PUSH(one.list, @value)}"
        )
        self._query(f"{text} IN @@collection", {"key": str(key), "value": value})

    def insert(self, key: int, value: int) -> None:
        """Adds a document."""
        document = _document(self._content, key, value)
        self._request("POST", f"/_api/document/{self._collection}?silent=true", document)

    def delete(self, key: int) -> None:
        """Removes a document."""
        self._request("DELETE", f"/_api/document/{self._collection}/{key}?silent=true")

    def range_read(self, low: int, high: int) -> list[tuple[int, int]]:
        """Registers from `low` to `high`."""
        text = (
            "FOR one IN @@collection FILTER one.number >= @low AND one.number <= @high "
            f"SORT one.number RETURN [one.number, one.{_REGISTER}]"
        )
        return [(key, value) for key, value in self._query(text, {"low": low, "high": high})]

    def commit(self) -> tuple[Timestamp, Timestamp] | None:
        """Commits; ArangoDB shows no timestamps."""
        transaction, self._transaction = self._transaction, None
        with _errors():
            self._http.request("PUT", f"/_api/transaction/{transaction}")
        return None

    def rollback(self) -> None:
        """Aborts the transaction, if there is one."""
        transaction, self._transaction = self._transaction, None
        if transaction is None:
            return
        try:
            self._http.request("DELETE", f"/_api/transaction/{transaction}")
        except (ArangoError, OSError, HTTPException):
            self._http.close()  # the server ends a transaction that idles

    def close(self) -> None:
        """Closes the connection."""
        self.rollback()
        self._http.close()

    def _request(self, method: str, path: str, body: object = None) -> Any:
        with _errors():
            return self._http.request(method, path, body, transaction=self._transaction).document()

    def _query(self, text: str, parameters: dict[str, Any]) -> list[Any]:
        bound = {"@collection": self._collection, **parameters}
        with _errors():
            return list(self._http.query(text, bound, transaction=self._transaction))


class _NoDocumentError(Exception):
    """There is no document with that key."""


class _errors:  # noqa: N801 - used like a function
    """Errors of the exchange as those of a driver."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, ArangoError):
            _refused(error)
        if isinstance(error, OSError | HTTPException):
            raise ConnectionLost(type(error).__name__) from None


def _refused(error: ArangoError) -> NoReturn:
    if error.number == _NO_DOCUMENT:
        raise _NoDocumentError from None
    if error.number in _ABORTED:
        raise Aborted(_ABORTED[error.number]) from None
    raise DatabaseError(f"ArangoDB: {error}") from None


def _address(url: str) -> str:
    """The address of the server: `arangodb://HOST` is reached by HTTP, `arangodb:https://HOST` by HTTPS."""
    place = url.removeprefix("arangodb:")
    return f"http:{place}" if place.startswith("//") else place


def _document(content: Content, key: int, value: int, *, is_first: bool = False) -> dict[str, Any]:
    held = {_LIST: [] if is_first else [value]} if content == "list" else {_REGISTER: value}
    return {"_key": str(key), "number": key, **held}


DATABASE = ArangoDatabase
