"""Dgraph without Dgraph: a model of its HTTP protocol, with one oracle and snapshot isolation."""

from __future__ import annotations

import json
import re
import threading
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import pytest

from isoscope.databases import connect
from isoscope.databases.database import Aborted, ConnectionLost
from isoscope.databases.dgraph.server import find_program
from isoscope.errors import DatabaseError, UsageError
from isoscope.levels import Level
from isoscope.run import FaultPlan, Limits, Plan, execute
from isoscope.verdict import Outcome
from tests.databases.asked_in_child import problems

if TYPE_CHECKING:
    from collections.abc import Iterator

_QUERY = re.compile(r"(?:between|eq)\((?P<key>[\w.]+), (?P<low>-?\d+)(?:, (?P<high>-?\d+))?\)")


class Model:
    """Versions of values by node and predicate, each with its commit timestamp."""

    def __init__(self) -> None:
        self.clock, self.nodes, self.lock = count(1), count(1), threading.Lock()
        self.versions: dict[tuple[str, str], list[tuple[int, Any]]] = {}
        self.open: dict[int, dict[tuple[str, str], Any]] = {}

    def answer(self, path: str, body: str) -> Any:
        parts = urlsplit(path)
        given = {name: values[0] for name, values in parse_qs(parts.query).items()}
        with self.lock:
            if parts.path == "/health":
                return [{"instance": "alpha", "version": "v25.0.0"}]
            if parts.path == "/alter":
                return self._alter(body)
            start = int(given.get("startTs", 0)) or next(self.clock)
            told = getattr(self, f"_{parts.path[1:]}")(start, body, given)
            return {"data": told.pop("data", {}), "extensions": {"txn": {"start_ts": start, **told}}}

    def _alter(self, body: str) -> Any:
        if body.startswith("{"):
            gone = json.loads(body)["drop_attr"]
            self.versions = {place: one for place, one in self.versions.items() if place[1] != gone}
        return {"data": {"code": "Success"}}

    def _query(self, start: int, body: str, _given: dict[str, str]) -> dict[str, Any]:
        asked = _QUERY.search(body)
        assert asked is not None
        key, value = asked["key"], asked["key"].replace(".key", ".value")
        rows = []
        for uid in sorted({uid for uid, _ in {**self.versions, **self.open.get(start, {})}}):
            found = {"key": self._seen(start, (uid, key)), "value": self._seen(start, (uid, value))}
            if found["key"] is not None and int(asked["low"]) <= found["key"] <= int(
                asked["high"] or asked["low"]
            ):
                rows.append({"uid": uid} | {name: one for name, one in found.items() if one is not None})
        return {"data": {"rows": rows}, "hash": "h"}

    def _seen(self, start: int, place: tuple[str, str]) -> Any:
        own = self.open.get(start, {})
        if place in own:
            return own[place]
        visible = [value for at, value in self.versions.get(place, []) if at <= start]
        return visible[-1] if visible else None

    def _mutate(self, start: int, body: str, given: dict[str, str]) -> dict[str, Any]:
        mutation, written = json.loads(body), self.open.setdefault(start, {})
        for node in (*mutation.get("set", []), *mutation.get("delete", [])):
            uid = node.get("uid") or f"0x{next(self.nodes):x}"
            written.update({(uid, name): value for name, value in node.items() if name != "uid"})
        if "commitNow" in given:
            return self._commit(start, "{}", {})
        # An index makes a second conflict key, of the value itself.
        keys = [f"{uid}/{name}" for uid, name in written]
        keys += [f"{name}={value}" for (_, name), value in written.items() if name.endswith(".key")]
        return {"keys": keys, "preds": ["1-" + name for _, name in written], "hash": "h"}

    def _commit(self, start: int, body: str, given: dict[str, str]) -> dict[str, Any]:
        written = self.open.pop(start, {})
        if "abort" in given:
            return {"aborted": True}
        taken = {f"{name}={value}" for (_, name), value in written.items() if name.endswith(".key")}
        newer = {
            mark
            for (uid, name), versions in self.versions.items()
            for at, value in versions
            if at > start
            for mark in ((uid, name), f"{name}={value}")
        }
        if newer & {*written, *taken}:
            raise Aborted
        end = next(self.clock)
        for place, value in written.items():
            self.versions.setdefault(place, []).append((end, value))
        return {"commit_ts": end}


@contextmanager
def serving(model: Model) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
            try:
                answer = model.answer(self.path, body)
            except Aborted:
                answer = {"errors": [{"message": "Transaction has been aborted. Please retry"}]}
            text = json.dumps(answer).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def do_POST(self) -> None:
            self.do_GET()

        def log_message(self, *_: Any) -> None:
            """Nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield f"dgraph://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize("content", ["register", "list"])
def test_the_driver_conforms_on_a_model_of_the_protocol(content: Any) -> None:
    with serving(Model()) as url:
        assert [*problems(connect(url), content)] == []


def test_a_commit_has_the_timestamps_of_the_oracle() -> None:
    with serving(Model()) as url:
        database = connect(url)
        assert database.open("register") == "Dgraph v25.0.0"
        database.insert([(1, 0)])
        session = database.session()
        session.begin()
        session.write(1, 1)
        told = session.commit()
        session.begin()
        session.read(1)
        read = session.commit()
        session.close()
        database.close()
    assert told is not None
    assert read is not None
    assert told[0] < told[1] < read[0] == read[1]


def test_the_second_of_two_writers_is_aborted_at_its_commit() -> None:
    with serving(Model()) as url:
        database = connect(url)
        database.open("register")
        database.insert([(1, 0)])
        one, other = database.session(), database.session()
        for session, value in ((one, 1), (other, 2)):
            session.begin()
            session.write(1, value)
        one.commit()
        with pytest.raises(Aborted, match="transaction has been aborted"):
            other.commit()
        other.close()
        one.close()
        database.close()


def test_another_error_of_the_server_ends_the_run() -> None:
    class Broken(Model):
        def answer(self, path: str, body: str) -> Any:
            return {"errors": [{"message": "the disk is full"}]}

    with (
        serving(Broken()) as url,
        closing(connect(url)) as database,
        pytest.raises(DatabaseError, match="Dgraph says: the disk is full"),
    ):
        database.open("register")


def test_an_alpha_that_is_not_ready_is_away() -> None:
    class Starting(Model):
        def answer(self, path: str, body: str) -> Any:
            return {"errors": [{"message": "Please retry again, server is not ready to accept requests"}]}

    with serving(Starting()) as url, closing(connect(url)) as database:
        with pytest.raises(DatabaseError, match="no connection to other nodes\n\nhint: dgraph://HOST:PORT"):
            database.open("register")
        with pytest.raises(ConnectionLost, match="the alpha has no connection to other nodes"):
            database.session()


def test_settings_faults_and_a_missing_program_are_one_message_each(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="replicas=2 makes no sense\n\nhint: 1, 3 or 5"):
        connect("dgraph", settings={"replicas": "2"})
    with pytest.raises(UsageError, match="not at a URL"):
        connect("dgraph://127.0.0.1", urls=["dgraph://127.0.0.2"]).use_faults(["kill"])
    with pytest.raises(UsageError, match="dgraph takes the faults kill, pause, cut"):
        connect("dgraph").use_faults(["partition"])
    monkeypatch.delenv("ISOSCOPE_DGRAPH", raising=False)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(DatabaseError, match="there is no dgraph on this machine\n\nhint: ISOSCOPE_DGRAPH"):
        connect("dgraph").open("register")


@pytest.mark.server
@pytest.mark.parametrize("kind", ["kill", "pause", "cut"])
def test_three_alphas_keep_snapshot_isolation_by_their_clock_in_spite_of_a_fault(kind: str) -> None:
    try:
        find_program("")
    except DatabaseError as error:
        pytest.skip(str(error).partition("\n")[0])
    plan = Plan.of(
        "dgraph",
        nodes=3,
        settings={"replicas": "3"},
        parameters={"sessions": 6, "keys": 10},
        limits=Limits(seconds=12),
        faults=FaultPlan.parse(f"{kind}@3s:n2", every=4),
    )
    completed = execute(plan)
    assert completed.run.problem is None
    assert [(fault.kind, fault.remark) for fault in completed.run.faults] == [(kind, "")]
    assert completed.run.progress.committed > 20
    levels = (Level.CLOCK_SNAPSHOT_ISOLATION, Level.SNAPSHOT_ISOLATION)
    report = completed.check(levels=levels)
    assert {report[level].outcome for level in levels} == {Outcome.HOLDS}


@pytest.mark.parametrize("url", ["dgraph:", "dgraph://host:port", "dgraph://host/path"])
def test_a_url_that_makes_no_sense_is_refused(url: str) -> None:
    with pytest.raises(UsageError, match="hint: dgraph://HOST:PORT"):
        connect(url)
