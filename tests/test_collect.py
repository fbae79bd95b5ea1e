"""The collector: everything arrives once and in order, whatever the service is going through."""

from __future__ import annotations

import functools
import json
import operator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest

from isoscope.collect import Collector
from isoscope.errors import ServiceError, UsageError
from isoscope.history import KINDS, UNKNOWN, OperationKind, Status, Timestamp
from isoscope.live.access import Access

from .interrupts import wait_until
from .live.sent_batches import answers, chain, offline
from .live.served import served

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Scripted:
    """A service that answers as it is told, then takes everything."""

    def __init__(self, *script: int | str, expected: int = 1) -> None:
        self.script, self.expected = list(script), expected
        self.taken: list[list[dict[str, Any]]] = []
        self.asked: list[tuple[str, str]] = []

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        body = handler.rfile.read(int(handler.headers.get("Content-Length", 0)))
        if handler.command == "GET":
            self.send(handler, 200, {"expected": self.expected})
            return
        sequence = handler.headers["X-Isoscope-Sequence"]
        self.asked.append((sequence, handler.headers["X-Isoscope-Collector"]))
        step = self.script.pop(0) if self.script else 200
        if (step in {"taken but not told", 200}) and self.expected == int(sequence):
            self.taken.append([json.loads(line) for line in body.splitlines()])
            self.expected += 1
        if isinstance(step, str):
            handler.close_connection = True
            return
        self.send(handler, step, {"error": "as scripted"} if step != 200 else {"taken": 1})

    @staticmethod
    def send(handler: BaseHTTPRequestHandler, status: int, document: dict[str, Any]) -> None:
        text = json.dumps(document).encode()
        handler.send_response(status)
        handler.send_header("Content-Length", str(len(text)))
        handler.end_headers()
        handler.wfile.write(text)


@contextmanager
def answering(script: Scripted) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            script.answer(self)

        do_POST = do_GET  # noqa: N815

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def add(collector: Collector, number: int) -> None:
    collector.add(
        number, session=1, start=2 * number, commit=Timestamp(2 * number, 1), operations=[("w", "x", number)]
    )


def ids(service: Scripted) -> list[list[int]]:
    return [[row["tid"] for row in batch] for batch in service.taken]


def test_added_transactions_are_judged_by_the_service(tmp_path: Path) -> None:
    transactions = chain(1200, stale_every=100)
    with served(tmp_path) as client:
        with Collector(client.url) as collector:
            for row in transactions:
                operations = [(op["t"], op["k"], op["v"]) for op in row["ops"]]
                collector.add(
                    row["tid"], session=row["sid"], start=row["sts"], commit=row["cts"], operations=operations
                )
        client.service.flush()
        assert answers(client.service.report()) == offline(transactions)
    done = collector.collected
    assert (done.transactions, done.retries, done.left_out) == (1200, 0, 0)
    assert done.batches >= 3
    assert done.seconds > 0


def test_batches_are_of_the_asked_size_and_in_order() -> None:
    service = Scripted()
    with answering(service) as url, Collector(url, batch=3, name="me") as collector:
        for number in range(1, 8):
            add(collector, number)
    assert functools.reduce(operator.iadd, ids(service), []) == [*range(1, 8)]
    assert [len(batch) for batch in service.taken][:2] == [3, 3]
    assert service.asked == [("1", "me"), ("2", "me"), ("3", "me")]
    assert service.taken[0][0] == {
        "tid": 1,
        "sid": 1,
        "sts": 2,
        "cts": {"p": 2, "l": 1},
        "ops": [{"t": "w", "k": "x", "v": 1}],
    }


def test_a_few_transactions_do_not_wait_for_ever() -> None:
    service = Scripted()
    with answering(service) as url, Collector(url) as collector:
        add(collector, 1)
        wait_until(lambda: bool(service.taken))
        assert ids(service) == [[1]]


def test_flush_returns_when_the_service_has_everything() -> None:
    service = Scripted(503, 429)
    with answering(service) as url, Collector(url) as collector:
        add(collector, 1)
        collector.flush()
        assert ids(service) == [[1]]
        collector.flush()
        add(collector, 2)
    assert ids(service) == [[1], [2]]


@pytest.mark.parametrize("trouble", [503, 429, 507, 500, "gone", "taken but not told"])
def test_a_batch_is_sent_again_until_it_is_taken_and_is_taken_once(trouble: int | str) -> None:
    service = Scripted(trouble, trouble)
    with answering(service) as url, Collector(url, batch=2) as collector:
        for number in range(1, 5):
            add(collector, number)
    assert ids(service) == [[1, 2], [3, 4]]
    assert collector.collected.retries >= 2


def test_a_collector_goes_on_with_the_number_that_the_service_expects() -> None:
    service = Scripted(expected=7)
    with answering(service) as url, Collector(url, name="mine") as collector:
        add(collector, 1)
    assert service.asked == [("7", "mine")]


def test_a_refused_batch_is_an_error_that_says_why() -> None:
    service = Scripted(422)
    with answering(service) as url:
        collector = Collector(url)
        add(collector, 1)
        with pytest.raises(ServiceError, match="answered 422: as scripted"):
            collector.flush()
        with pytest.raises(ServiceError, match="as scripted"):
            add(collector, 2)
        with pytest.raises(ServiceError, match="as scripted"):
            collector.close()


def test_a_service_that_stays_away_is_an_error_after_a_while() -> None:
    with answering(Scripted()) as url:
        pass
    collector = Collector(url, patience=0.2)
    add(collector, 1)
    with pytest.raises(ServiceError, match="cannot be reached"):
        collector.close()


def test_a_full_buffer_makes_the_driver_wait_and_drops_nothing() -> None:
    service = Scripted(*[503] * 3)
    with answering(service) as url, Collector(url, batch=5, buffer=5) as collector:
        for number in range(1, 21):
            add(collector, number)
    assert functools.reduce(operator.iadd, ids(service), []) == [*range(1, 21)]
    assert collector.collected.waited > 0.1


def test_nothing_is_added_to_a_closed_collector() -> None:
    with answering(Scripted()) as url:
        collector = Collector(url)
        collector.close()
        collector.close()
        with pytest.raises(ServiceError, match="the collector is closed"):
            add(collector, 1)


@pytest.mark.parametrize("url", ["localhost:8642", "ftp://host", "http://", ""])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(UsageError, match="expected an address such as"):
        Collector(url)


def test_two_that_share_a_name_lose_nothing_in_silence(tmp_path: Path) -> None:
    with served(tmp_path) as client:
        first, second = (Collector(client.url, name="shared") for _ in range(2))
        for number, collector in enumerate((first, second)):
            add(collector, number)
            collector.flush()
        add(first, 2)
        with pytest.raises(ServiceError, match="another collector has the same name"):
            first.close()
        second.close()


@pytest.mark.parametrize("named", [{"name": "日本"}, {"name": " a"}, {"name": "a\nb"}, {"token": "日"}])
def test_a_text_that_a_header_cannot_carry_is_refused(named: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="in ASCII, without spaces around it"):
        Collector("http://127.0.0.1:1", **named)


def test_a_value_that_cannot_be_sent_is_an_error_and_nobody_waits_for_ever() -> None:
    with answering(Scripted()) as url:
        collector = Collector(url)
        collector.add(1, session=1, start=1, commit=2, operations=[("w", "x", b"bytes")])
        with pytest.raises(ServiceError, match="a transaction cannot be sent: TypeError"):
            collector.close()


def test_the_token_is_sent(tmp_path: Path) -> None:
    with served(tmp_path, Access(token="secret")) as client:
        with Collector(client.url, token="secret") as collector:
            add(collector, 1)
        assert collector.collected.transactions == 1
        other = Collector(client.url, token="guess")
        add(other, 2)
        with pytest.raises(ServiceError, match="answered 401"):
            other.close()


def row(kind: OperationKind, key: object, value: object) -> tuple[Any, ...]:
    return (KINDS.index(kind), key, value, (1, 2), None, (), None, None, None, None, False, None)


ROWS = [
    row(OperationKind.BEGIN, None, None),
    row(OperationKind.READ, 1, (2, 3)),
    row(OperationKind.READ, 2, UNKNOWN),
    row(OperationKind.INSERT, 3, 4),
    row(OperationKind.APPEND, 5, 6),
    row(OperationKind.COMMIT, None, None),
]
TIMES = (Timestamp(1), Timestamp(2))


def test_a_run_hands_over_what_ended_and_counts_the_rest() -> None:
    service = Scripted()
    with answering(service) as url, Collector(url) as collector:
        collector.transaction(1, 0, Status.COMMITTED, ROWS, TIMES)
        collector.transaction(2, 0, Status.ABORTED, ROWS, None)
        collector.transaction(3, 0, Status.INDETERMINATE, ROWS, None)
    [[told, aborted]] = service.taken
    assert aborted == {"tid": 2, "sid": 0, "status": "aborted", "ops": told["ops"]}
    assert [(op["t"], op["k"], op["v"]) for op in told["ops"]] == [("r", 1, [2, 3]), ("w", 3, 4), ("a", 5, 6)]
    assert collector.collected.left_out == 1


@pytest.mark.parametrize(
    ("rows", "times", "problem"),
    [(ROWS, None, "no timestamps"), ([row(OperationKind.DELETE, 1, None)], TIMES, "of the kind delete")],
)
def test_a_transaction_that_the_service_cannot_judge_is_an_error_at_once(
    rows: list[tuple[Any, ...]], times: tuple[Timestamp, Timestamp] | None, problem: str
) -> None:
    with (
        answering(Scripted()) as url,
        Collector(url) as collector,
        pytest.raises(ServiceError, match=problem),
    ):
        collector.transaction(1, 0, Status.COMMITTED, rows, times)
