"""The collector of ArangoDB against an exchange as its documentation shows it; no server could be had."""

from __future__ import annotations

import json
import re
from http.server import HTTPServer
from typing import TYPE_CHECKING

import pytest

from isoscope.databases import connect
from isoscope.databases.arangodb import ArangoDatabase, version_rows
from isoscope.databases.database import Aborted, ConnectionLost
from isoscope.errors import DatabaseError, UsageError
from isoscope.levels import Level
from tests.arango_exchange import Exchange, refused, replayed

if TYPE_CHECKING:
    from isoscope.databases.database import Content

BEGIN = Exchange("POST", "/_api/transaction/begin", {"result": {"id": "140", "status": "running"}}, 201)


@pytest.fixture(autouse=True)
def _fixed_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """The name of the collection is random in a run."""

    class Fixed:
        hex = "c" * 32

    monkeypatch.setattr("isoscope.databases.arangodb.uuid4", Fixed)


COLLECTION = "isoscope_cccccccc"
DOCUMENT = f"/_api/document/{COLLECTION}"


def opening(role: str = "SINGLE", **more: int) -> list[Exchange]:
    tick = [Exchange("GET", "/_api/wal/lastTick", {"tick": "100"})] if role == "SINGLE" else []
    return [
        Exchange("GET", "/_api/version", {"server": "arango", "version": "3.11.5"}),
        Exchange("GET", "/_admin/server/role", {"role": role}),
        *tick,
        Exchange("POST", "/_api/collection", {"name": COLLECTION}, body={"name": COLLECTION, **more}),
    ]


CLOSING = [Exchange("DELETE", f"/_api/collection/{COLLECTION}", {"id": "1"})]


def database(url: str, content: Content = "register", **settings: str) -> tuple[ArangoDatabase, str]:
    found = ArangoDatabase("stream", url=url, settings=settings)
    return found, found.open(content)


def tail_headers(last: str, more: str) -> dict[str, str]:
    return {"x-arango-replication-lastincluded": last, "x-arango-replication-checkmore": more}


def record(kind: int, tid: str, key: str = "", value: int = 0) -> bytes:
    data = {"data": {"_key": key, "_id": f"{COLLECTION}/{key}", "rwAttr": value}} if key else {}
    return json.dumps({"tick": "1", "type": kind, "tid": tid, **data}).encode()


def test_registers_run_in_stream_transactions_and_the_log_orders_their_versions() -> None:
    log = [
        [record(2200, "140"), record(2300, "140", "1", 5), record(2300, "140", "1", 6), record(2201, "140")],
        [record(2200, "141"), record(2300, "141", "1", 7), record(2202, "141"), record(2300, "0", "1", 0)],
    ]
    exchanges = [
        *opening(),
        Exchange("POST", f"{DOCUMENT}?silent=true", [], 201,
                 body=[{"_key": "1", "number": 1, "rwAttr": 0}]),
        BEGIN,
        Exchange("GET", f"{DOCUMENT}/1", {"_key": "1", "rwAttr": 0}, transaction="140"),
        refused("GET", f"{DOCUMENT}/9", 1202, "document not found", 404),
        Exchange("PATCH", f"{DOCUMENT}/1?silent=true", {}, 202, body={"rwAttr": 6}, transaction="140"),
        Exchange("POST", "/_api/cursor", {"result": [[1, 6]], "hasMore": True, "id": "77"}, 201),
        Exchange("POST", "/_api/cursor/77", {"result": [[2, 8]], "hasMore": False}),
        Exchange("PUT", "/_api/transaction/140", {"result": {"id": "140", "status": "committed"}}),
        Exchange("GET", "/_api/wal/tail?from=100&chunkSize=134217728", b"\n".join(log[0]),
                 headers=tail_headers("150", "true")),
        Exchange("GET", "/_api/wal/tail?from=150&chunkSize=134217728", b"\n".join(log[1]),
                 headers=tail_headers("160", "false")),
        *CLOSING,
    ]  # fmt: skip
    with replayed(exchanges) as url:
        found, version = database(url)
        assert version == "ArangoDB 3.11.5"
        assert found.promises == (Level.SNAPSHOT_ISOLATION,)
        found.insert([(1, 0)])
        session = found.session()
        session.begin()
        assert session.read(1) == 0
        assert session.read(9) is None
        session.write(1, 6)
        assert session.range_read(1, 2) == [(1, 6), (2, 8)]
        assert session.commit() is None
        session.close()
        assert found.version_order() == [(1, 6)]
        found.close()


def test_lists_run_in_a_cluster_without_a_log() -> None:
    exchanges = [
        *opening("COORDINATOR", replicationFactor=3, numberOfShards=2),
        BEGIN,
        Exchange("POST", "/_api/cursor", {"result": [], "hasMore": False}, 201, transaction="140"),
        Exchange("GET", f"{DOCUMENT}/1", {"_key": "1", "list": [4, 5]}),
        Exchange("POST", f"{DOCUMENT}?silent=true", {}, 201,
                 body={"_key": "2", "number": 2, "list": [6]}),
        Exchange("DELETE", f"{DOCUMENT}/2?silent=true", {}),
        Exchange("DELETE", "/_api/transaction/140", {"result": {"status": "aborted"}}),
        *CLOSING,
    ]  # fmt: skip
    with replayed(exchanges) as url:
        found, version = database(url, "list", replication="3", shards="2")
        assert version == "ArangoDB 3.11.5 (cluster)"
        assert found.promises == ()
        session = found.session()
        session.begin()
        session.append(1, 5)
        assert session.read(1) == (4, 5)
        session.insert(2, 6)
        session.delete(2)
        session.close()
        assert found.version_order() is None
        found.close()


def test_a_refusal_says_whether_the_transaction_is_gone() -> None:
    exchanges = [
        *opening(),
        BEGIN,
        refused("PATCH", f"{DOCUMENT}/1?silent=true", 1200, "write-write conflict"),
        refused("PATCH", f"{DOCUMENT}/1?silent=true", 11, "forbidden", 403),
        Exchange("DELETE", "/_api/transaction/140", {}),
        *CLOSING,
    ]
    with replayed(exchanges) as url:
        found, _ = database(url)
        session = found.session()
        session.begin()
        with pytest.raises(Aborted, match="write-write conflict"):
            session.write(1, 6)
        with pytest.raises(DatabaseError, match=r"ArangoDB: forbidden \(error 11\)"):
            session.write(1, 6)
        session.close()
        found.close()


def test_a_log_that_was_cut_is_an_error_and_not_an_order() -> None:
    gone = {"x-arango-replication-frompresent": "false"}
    tail = Exchange("GET", "/_api/wal/tail?from=100&chunkSize=134217728", b"", headers=gone)
    with replayed([*opening(), tail, *CLOSING]) as url:
        found, _ = database(url)
        with pytest.raises(DatabaseError, match="no longer has the beginning"):
            found.version_order()
        found.close()


def test_no_server_is_one_message_and_a_lost_one_is_a_lost_connection() -> None:
    server = HTTPServer(("127.0.0.1", 0), object)  # type: ignore[arg-type]
    url = f"http://127.0.0.1:{server.server_port}"
    server.server_close()
    with pytest.raises(DatabaseError, match=re.escape(f"cannot use {url}")):
        database(url)
    with pytest.raises(ConnectionLost):
        ArangoDatabase("stream", url=url, settings={}).session().begin()


def test_settings_that_make_no_sense_are_refused() -> None:
    with pytest.raises(UsageError, match="--set shards: expected a number, found two"):
        connect("arangodb://h:1", settings={"shards": "two"})


@pytest.mark.parametrize("scheme", ["http:", "arangodb:", "arangodb:http:"])
def test_a_url_names_the_database_or_the_protocol(scheme: str) -> None:
    with replayed([*opening(), *CLOSING]) as url:
        found, version = database(f"{scheme}{url.removeprefix('http:')}")
        found.close()
    assert version == "ArangoDB 3.11.5"


def test_rows_of_other_collections_and_of_open_transactions_are_no_versions() -> None:
    records = [
        {"type": 2300, "tid": "1", "data": {"_key": "1", "_id": "other/1", "rwAttr": 3}},
        {"type": 2300, "tid": "2", "data": {"_key": "1", "_id": "mine/1", "rwAttr": 4}},
        {"type": 2300, "tid": "3", "data": {"_key": "1", "_id": "mine/1", "rwAttr": 5}},
        {"type": 2201, "tid": "1"},
        {"type": 2201, "tid": "3"},
        {"type": 2300, "tid": "0", "data": {"_key": "2", "_id": "mine/2", "rwAttr": 6}},
    ]
    assert list(version_rows(records, "mine")) == [(1, 5), (2, 6)]
