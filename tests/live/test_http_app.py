"""The service over HTTP: every answer of the protocol, and hostile requests."""

from __future__ import annotations

import socket
import time
from itertools import islice
from threading import Event, Thread
from typing import TYPE_CHECKING
from unittest import mock

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from isoscope import formats
from isoscope.errors import UsageError
from isoscope.live.access import Access
from isoscope.live.batches import FORMS
from isoscope.live.http_server import listen
from isoscope.live.journal import Fsync
from isoscope.live.service import Service, Settings

from .sent_batches import FINE, STALE, batch, body, chain, in_batches, offline
from .served import Client, served
from .test_journal import full_after
from .test_service import measured

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    with served(tmp_path) as found:
        yield found


def stale(client: Client) -> None:
    client.post(1, STALE)
    assert client.ask("POST", "/v1/flush").document == {"violations": 2}


def test_a_batch_is_answered_with_what_was_taken(client: Client) -> None:
    assert client.post(1, STALE).document == {"taken": 3, "repeated": 0, "sequence": 1}
    assert client.post(2, STALE).document == {"taken": 0, "repeated": 3, "sequence": 2}
    assert client.post(2, STALE).document == {"taken": 0, "repeated": True, "sequence": 2}
    assert client.get("/v1/collectors/c").document == {"collector": "c", "expected": 3}


def test_the_name_of_a_collector_may_have_any_sign(client: Client) -> None:
    client.post(1, STALE, collector="host/1?#%")
    assert client.get("/v1/collectors/host%2F1%3F%23%25").document["expected"] == 2


def test_a_batch_may_be_an_array(client: Client) -> None:
    array = b"[" + body(STALE).replace(b"\n", b",") + b"]"
    assert client.post(1, array, Content_Type="application/json; charset=utf-8").document["taken"] == 3


def test_a_batch_may_be_columns(client: Client, tmp_path: Path) -> None:
    path = tmp_path / "batch.parquet"
    formats.save(batch(1, STALE).read(), path)
    table = pq.read_table(path)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    columns = sink.getvalue().to_pybytes()
    assert client.post(1, columns, Content_Type=FORMS[2]).document["taken"] == 3
    assert client.post(2, body(STALE)).document["repeated"] == 3
    cut = client.post(3, columns[:-100], Content_Type=FORMS[2])
    assert cut.status == 400
    assert cut.document["error"].startswith("c#3: expected an Arrow stream that is whole, found ")


def test_the_report_is_the_document_of_the_offline_check(client: Client) -> None:
    stale(client)
    document = client.get("/v1/report").document
    assert {row["level"]: (row["outcome"], row["anomaly_counts"]) for row in document["verdicts"]} == offline(
        STALE
    )
    assert document["history"]["transactions"] == 3


def test_violations_are_there_by_number_and_as_lines(client: Client) -> None:
    stale(client)
    both = client.get("/v1/violations").document
    assert [row["id"] for row in both] == [1, 2]
    assert client.get("/v1/violations?after=1").document == both[1:]
    assert client.get("/v1/violations?limit=1").document == both[:1]
    assert client.get("/v1/violations?after=1", Accept="application/x-ndjson").body.count(b"\n") == 1
    assert client.get("/v1/violations?after=-1").status == 400


def test_a_violation_has_a_picture(client: Client) -> None:
    stale(client)
    picture = client.get("/v1/violations/1.svg")
    assert (picture.status, picture.headers["content-type"]) == (200, "image/svg+xml")
    assert picture.body.startswith(b"<svg ")
    assert client.get("/v1/violations/3.svg").status == 404


def test_metrics_are_what_prometheus_reads(client: Client) -> None:
    stale(client)
    client.post(2, b"poison")
    lines = client.get("/metrics").body.decode().splitlines()
    values = dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
    assert values["isoscope_up"] == "1"
    assert values["isoscope_batches_total"] == "1"
    assert values["isoscope_batches_refused_total"] == "1"
    assert values["isoscope_violations_total"] == "2"
    named = 'isoscope_level_violations_total{level="clock-serializable",name="stale-read"}'
    assert values[named] == "1"
    assert {line.split()[2] for line in lines if line.startswith("# TYPE")} == {
        name.split("{")[0] for name in values
    }


def test_health_and_readiness_are_answered(client: Client) -> None:
    for path in ("/healthz", "/readyz"):
        answer = client.get(path)
        assert (answer.status, answer.document) == (200, {"state": "running", "problem": ""})


def test_a_checker_that_stopped_is_unhealthy(client: Client) -> None:
    with mock.patch("isoscope.live.clock_engines.ClockEngines.take", side_effect=RuntimeError("odd")):
        assert client.post(1, STALE).status == 500
    assert [client.get(path).status for path in ("/healthz", "/readyz")] == [500, 503]
    assert client.post(1, STALE).document == {"error": "a checker stopped: RuntimeError: odd"}


@pytest.mark.parametrize(
    ("content", "headers", "status", "reason"),
    [
        (b'{"tid":1}', {}, 400, "expected a transaction with `ops`"),
        (STALE, {"X_Isoscope_Sequence": 2}, 409, "expected batch 1 of c"),
        (STALE, {"X_Isoscope_Sequence": 0}, 400, "X-Isoscope-Sequence: N"),
        (STALE, {"X_Isoscope_Sequence": "one"}, 400, "found 'one'"),
        (STALE, {"X_Isoscope_Sequence": 2**63}, 400, "X-Isoscope-Sequence"),
        (STALE, {"X_Isoscope_Sequence": "9" * 5000}, 400, "X-Isoscope-Sequence"),
        (STALE, {"X_Isoscope_Collector": ""}, 400, "X-Isoscope-Collector"),
        (STALE, {"X_Isoscope_Collector": "x" * 201}, 400, "at most 200 letters"),
        (STALE, {"Content_Type": "text/plain"}, 415, "found 'text/plain'"),
        (STALE, {"Content_Encoding": "gzip"}, 415, "found 'gzip'"),
        ([{**STALE[0], "status": "indeterminate"}], {}, 422, "it is not known whether it committed"),
    ],
)
def test_what_is_wrong_with_a_batch_is_said_and_nothing_of_it_is_taken(
    client: Client, content: bytes, headers: dict[str, object], status: int, reason: str
) -> None:
    answer = client.post(headers.pop("X_Isoscope_Sequence", 1), content, **headers)
    assert answer.status == status
    assert reason in answer.document["error"]
    assert client.post(1, STALE).document["taken"] == 3


def test_a_poisoned_batch_is_told_its_line_and_column(client: Client) -> None:
    answer = client.post(1, body(STALE) + b'\n{"tid":?}')
    assert (answer.document["line"], answer.document["column"]) == (4, 8)


def test_other_addresses_and_methods_are_errors_in_json_too(client: Client) -> None:
    assert (client.get("/nowhere").status, client.get("/nowhere").document) == (404, {"error": "Not Found"})
    assert client.get("/v1/batches").status == 405


def test_a_large_batch_is_refused_whether_or_not_it_says_so(tmp_path: Path) -> None:
    with served(tmp_path, Access(body=1000)) as client:
        large = client.post(1, chain(100))
        assert large.status == 413
        assert "expected at most 1,000 bytes" in large.document["error"]
        pieces = (body(chain(100))[at : at + 500] for at in range(0, 5000, 500))
        client.connection.close()
        client.connection.request(
            "POST",
            "/v1/batches",
            pieces,
            {
                "X-Isoscope-Collector": "c",
                "X-Isoscope-Sequence": "1",
                "Content-Type": FORMS[1],
                "Transfer-Encoding": "chunked",
            },
            encode_chunked=True,
        )
        assert client.connection.getresponse().status == 413
        client.connection.close()
        assert client.post(1, STALE).status == 200


def test_a_client_that_is_too_fast_is_told_when_to_come_back(tmp_path: Path) -> None:
    with served(tmp_path, Access(per_second=0.5)) as client:
        assert client.post(1, STALE).status == 200
        answer = client.post(2, STALE)
        assert (answer.status, answer.headers["retry-after"]) == (429, "2")
        assert client.get("/v1/status").status == 200


def test_too_much_under_way_is_told_to_come_back(tmp_path: Path) -> None:
    with served(tmp_path, Access(under_way=1000)) as client:
        assert client.post(1, chain(100)).status == 429
        # What was refused is under way no longer.
        assert client.post(1, STALE).status == 200


def test_the_memory_limit_asks_for_patience(tmp_path: Path) -> None:
    with served(tmp_path, settings=Settings(fsync=Fsync.NEVER, memory=10**9)) as client:
        with measured(memory=10**9):
            client.post(1, STALE[:1])
            answer = client.post(2, STALE[1:])
        assert (answer.status, answer.headers["retry-after"]) == (429, "1")
        assert answer.document["retry_after"] == 0.2


def test_a_full_disk_is_an_answer_and_the_next_batch_is_taken(client: Client) -> None:
    with full_after(0):
        answer = client.post(1, STALE)
    assert (answer.status, "No space left" in answer.document["error"]) == (507, True)
    assert client.post(1, STALE).status == 200


def test_a_client_that_never_finishes_is_dropped(tmp_path: Path) -> None:
    head = (
        "POST /v1/batches HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\nX-Isoscope-Collector: c\r\n"
        f"X-Isoscope-Sequence: 1\r\nContent-Type: {FORMS[1]}\r\n\r\n"
    )
    with served(tmp_path, Access(patience=0.2)) as client:
        host, port = client.host.split(":")
        with socket.create_connection((host, int(port))) as slow:
            slow.sendall(head.encode() + b"{")
            assert slow.recv(100).startswith(b"HTTP/1.1 408 ")
        with socket.create_connection((host, int(port))) as gone:
            gone.sendall(head.encode() + b"{")
        assert client.post(1, STALE).status == 200


def test_without_the_token_nobody_gets_in(tmp_path: Path) -> None:
    with served(tmp_path, Access(token="secret")) as client:
        for path in ("/v1/status", "/v1/events", "/metrics", "/v1/report"):
            answer = client.get(path)
            assert (answer.status, answer.headers["www-authenticate"]) == (401, "Bearer")
        assert client.post(1, STALE).status == 401
        assert client.post(1, STALE, Authorization="Bearer wrong").status == 401
        assert client.get("/healthz").status == 200
        assert client.post(1, STALE, Authorization="Bearer secret").status == 200
        # A browser's event stream cannot send headers; nothing that changes something is had this way.
        assert client.get("/v1/status?token=secret").status == 200
        assert client.ask("POST", "/v1/flush?token=secret").status == 401


def test_pages_from_elsewhere_cannot_reach_a_service_without_a_token(client: Client) -> None:
    assert client.get("/v1/status", Host="evil.example:80").status == 403
    assert client.ask("POST", "/v1/flush", Origin="http://evil.example").status == 403
    assert client.ask("POST", "/v1/flush", Origin=client.url).status == 200
    assert client.get("/v1/status", Host="localhost:1").status == 200


def test_addresses_that_are_none_are_those_of_strangers(client: Client) -> None:
    assert client.get("/v1/status", Host="[").status == 403
    assert client.get("/v1/status", Origin="http://[").status == 403


def test_violations_come_as_events_while_one_listens(client: Client) -> None:
    with client.listening() as events:
        assert next(events)[0] == "status"
        stale(client)
        found = [event for event in islice(events, 5) if event[0] == "violation"]
        assert [(number, data["id"]) for _, number, data in found] == [(1, 1), (2, 2)]


def test_the_status_comes_every_second(client: Client) -> None:
    with client.listening() as events:
        told = [*islice(events, 3)]
    assert [kind for kind, _, _ in told] == ["status"] * 3
    # By the clock of the service: the reader may be late.
    assert told[2][2]["uptime"] - told[0][2]["uptime"] > 1.5


@pytest.mark.parametrize(
    ("path", "headers", "first"),
    [
        ("/v1/events", {"Last-Event-ID": 1}, 2),
        ("/v1/events?after=1", {}, 2),
        ("/v1/events", {}, 1),
        ("/v1/events?after=latest", {}, 3),
    ],
)
def test_who_comes_back_sees_each_violation_once(
    client: Client, path: str, headers: dict[str, object], first: int
) -> None:
    stale(client)
    with client.listening(path, **headers) as events:
        more = chain(8, stale_every=5)
        for row in more:
            row["tid"] += 100
            row["sts"], row["cts"] = row["sts"] + 100, row["cts"] + 100
            row["sid"] += 100
        client.post(2, more)
        client.ask("POST", "/v1/flush")
        total = len(client.get("/v1/violations").document)
        assert total > 3
        found: list[int] = []
        while not found or found[-1] < total:
            kind, number, _ = next(events)
            found += [number] if kind == "violation" else []
    assert found == [*range(first, total + 1)]
    with client.listening(Last_Event_ID=total) as events:
        assert next(events)[0] == "status"


def test_a_nonsensical_event_number_is_refused(client: Client) -> None:
    assert client.get("/v1/events?after=last").status == 400
    assert client.get("/v1/events", Last_Event_ID="9" * 5000).status == 400
    assert client.get("/v1/violations?after=" + "9" * 5000).status == 400


def test_listeners_that_do_not_read_hold_nobody_up(client: Client) -> None:
    host, port = client.host.split(":")
    deaf = [socket.create_connection((host, int(port))) for _ in range(5)]
    for one in deaf:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        one.sendall(b"GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
    for sequence, part in enumerate(in_batches(chain(300, stale_every=2), 20), start=1):
        assert client.post(sequence, part).status == 200
    client.ask("POST", "/v1/flush")
    assert client.get("/v1/status").document["violations"] > 100
    for one in deaf:
        one.close()


def test_two_collectors_at_once_are_taken_whole(tmp_path: Path) -> None:
    transactions = chain(400, stale_every=9, sessions=2)
    statuses: list[int] = []
    with served(tmp_path) as client:

        def send(session: int) -> None:
            own = Client(client.url, client.service, client.serving)
            rows = [row for row in transactions if row["sid"] == session]
            for sequence, part in enumerate(in_batches(rows, 25), start=1):
                statuses.append(own.post(sequence, part, collector=f"c{session}").status)
            own.connection.close()

        threads = [Thread(target=send, args=(session,)) for session in (0, 1)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        client.ask("POST", "/v1/flush")
        document = client.get("/v1/report").document
    assert {*statuses} == {200}
    assert {row["level"]: (row["outcome"], row["anomaly_counts"]) for row in document["verdicts"]} == offline(
        transactions
    )


def test_a_service_that_drains_says_so_and_still_answers_questions(client: Client) -> None:
    client.post(1, FINE)
    with mock.patch.object(Service, "drain", side_effect=lambda _: time.sleep(1)):
        client.service.state = type(client.service.state).DRAINING
        answer = client.post(2, STALE)
        assert (answer.status, answer.document) == (503, {"error": "the service is about to end"})
        assert client.get("/readyz").status == 503
        assert client.get("/healthz").status == 200
        assert client.get("/v1/status").document["state"] == "draining"


def test_listeners_hear_the_last_violations_and_then_the_end(tmp_path: Path) -> None:
    with served(tmp_path) as client:
        client.post(1, STALE)
        with client.listening() as events:
            assert next(events)[0] == "status"
            client.serving.stop()
            numbers = [number for kind, number, _ in events if kind == "violation"]
    assert numbers == [1, 2]


def test_who_asks_twice_for_the_end_does_not_wait_for_it(tmp_path: Path) -> None:
    stuck = Event()
    with (
        mock.patch.object(Service, "drain", side_effect=lambda _: stuck.wait(60)),
        served(tmp_path) as client,
    ):
        client.serving.stop()
        began = time.monotonic()
    assert time.monotonic() - began < 20
    stuck.set()


def test_a_port_that_is_taken_is_one_message() -> None:
    with listen("127.0.0.1", 0) as taken, pytest.raises(UsageError, match=r"cannot listen on .* port"):
        listen("127.0.0.1", taken.getsockname()[1])
