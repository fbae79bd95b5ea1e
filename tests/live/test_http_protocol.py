"""Clients that flood, drip or never finish lose their connection, and honest batches are taken meanwhile."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest

from isoscope.live.access import Access, AccessControl

from .hostile_clients import FLOODS, HOST, UNFINISHED, connected, flood, unfinished, until_closed
from .sent_batches import STALE, body, chain, in_batches
from .served import Client, served

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable
    from pathlib import Path

#: A header of this size is refused by its count of bytes, not by that of the whole request.
LIMIT = 64 << 10
#: A limit of time that no honest client of a test can reach.
LONG = 300.0


def status_of(said: bytes) -> int:
    return int(said.split()[1])


def becomes(condition: Callable[[], bool]) -> None:
    """Waits until the condition is true."""
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def drip(connection: socket.socket, drop: bytes) -> None:
    """Sends a little again and again until the server closes the connection."""
    end = time.monotonic() + 60
    with suppress(ConnectionError):
        while time.monotonic() < end:
            connection.sendall(drop)
            time.sleep(0.01)
    assert time.monotonic() < end


def request(*headers: bytes, path: bytes = b"/healthz") -> bytes:
    return b"GET %s HTTP/1.1\r\n%s%s\r\nConnection: close\r\n\r\n" % (path, HOST, b"\r\n".join(headers))


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (request(b"X: " + b"a" * (LIMIT - 200)), 200),
        (request(b"X: " + b"a" * LIMIT), 431),
        (request(b"a" * LIMIT + b": x"), 431),
        (request(b"X: y", path=b"/?" + b"a" * LIMIT), 431),
        (request(*[b"X: " + b"a" * 1000] * 66), 431),
        (request(*[b"X: y"] * 98), 200),
        (request(*[b"X: y"] * 99), 431),
        (request(b"X: y") + b"a" * (2 * LIMIT), 200),
        (b"nonsense\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\n" + HOST + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
    ],
)
@pytest.mark.parametrize("piece", [1 << 20, 1000], ids=["at once", "in pieces"])
def test_headers_are_bounded_in_bytes_and_number(
    client: Client, sent: bytes, status: int, piece: int
) -> None:
    with connected(client.host) as connection:
        with suppress(ConnectionError):
            for at in range(0, len(sent), piece):
                connection.sendall(sent[at : at + piece])
        said = until_closed(connection)
    assert status_of(said) == status
    assert b"application/json" in said
    assert ("error" in json.loads(said.partition(b"\r\n\r\n")[2])) == (status != 200)


@pytest.mark.parametrize("part", FLOODS)
def test_a_part_of_a_request_without_end_is_cut_off(client: Client, part: str) -> None:
    size = 300 << 20
    sent, said = flood(client.host, *FLOODS[part], size)
    assert sent < size
    assert not said or status_of(said) in {400, 404, 431}
    assert client.post(1, STALE).status == 200


def test_a_batch_is_taken_while_headers_flood_in(client: Client) -> None:
    parts = [FLOODS[name] for name in ("value", "many headers", "address", "trailer")]
    threads = [Thread(target=flood, args=(client.host, *part, 300 << 20)) for part in parts]
    for thread in threads:
        thread.start()
    assert client.post(1, STALE).status == 200
    for thread in threads:
        thread.join()


@pytest.mark.parametrize("part", UNFINISHED)
def test_a_request_that_is_never_finished_is_given_up(tmp_path: Path, part: str) -> None:
    access = Access(head_patience=0.3, patience=0.3)
    with served(tmp_path, access) as client, connected(client.host) as connection:
        connection.sendall(UNFINISHED[part])
        said = until_closed(connection)
        assert not said or status_of(said) in {404, 408}
        becomes(lambda: len(client.serving.connections) == 0)


@pytest.mark.parametrize("part", UNFINISHED)
def test_a_request_that_comes_byte_by_byte_is_given_up(tmp_path: Path, part: str) -> None:
    drop = b"\r\n" if part in {"nothing", "empty lines"} else b"a"
    access = Access(head_patience=0.3, patience=0.3)
    with served(tmp_path, access) as client, connected(client.host) as connection:
        connection.sendall(UNFINISHED[part])
        drip(connection, drop)


def test_a_request_after_an_answer_must_come_in_time_too(tmp_path: Path) -> None:
    with (
        served(tmp_path, Access(head_patience=0.5)) as client,
        connected(client.host) as connection,
    ):
        connection.sendall(b"GET /healthz HTTP/1.1\r\n%s\r\nGET /healthz HTT" % HOST)
        said = until_closed(connection)
        assert said.startswith(b"HTTP/1.1 200 ")
        assert b"HTTP/1.1 408 " in said


def test_a_slow_batch_that_is_within_its_time_is_taken(tmp_path: Path) -> None:
    """The time for headers is not that of the body."""
    sent = body(STALE)
    start = UNFINISHED["body"].removesuffix(b"{").replace(b": 1000\r", b": %d\r" % len(sent))
    with (
        served(tmp_path, Access(head_patience=0.2, patience=LONG)) as client,
        connected(client.host) as connection,
    ):
        connection.sendall(start + sent[:50])
        time.sleep(0.5)
        connection.sendall(sent[50:])
        assert status_of(connection.recv(1000)) == 200


def posted(sequence: int, *headers: bytes) -> tuple[bytes, bytes]:
    """Headers and body of a whole batch."""
    sent = body(STALE)
    start = UNFINISHED["body"].removesuffix(b"\r\n\r\n{").replace(b": 1000\r", b": %d\r" % len(sent))
    named = start.replace(b"Sequence: 1", b"Sequence: %d" % sequence)
    return b"\r\n".join([named, *headers]) + b"\r\n\r\n", sent


def test_the_application_sees_no_unfinished_small_body(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    called = AccessControl.__call__

    async def watched(self: AccessControl, scope: Any, receive: Any, send: Any) -> None:
        seen.append(scope["path"])
        await called(self, scope, receive, send)

    monkeypatch.setattr(AccessControl, "__call__", watched)
    with served(tmp_path, Access(patience=LONG)) as client:
        with unfinished(client.host, [UNFINISHED["body"]] * 20 + [UNFINISHED["chunk"]] * 20):
            assert client.get("/healthz").status == 200
            becomes(lambda: len(client.serving.connections) == 41)
        assert client.post(1, STALE).status == 200
    assert seen == ["/healthz", "/v1/batches"]


def test_a_client_that_waits_before_its_body_is_asked_for_it(client: Client) -> None:
    head, sent = posted(1, b"Expect: 100-continue")
    with connected(client.host) as connection:
        connection.sendall(head)
        assert status_of(connection.recv(1000)) == 100
        connection.sendall(sent)
        assert status_of(connection.recv(1000)) == 200


def test_batches_that_are_sent_before_the_answers_are_all_taken(client: Client) -> None:
    several = b"".join(head + sent for head, sent in map(posted, (1, 2, 3)))
    with connected(client.host) as connection:
        connection.sendall(several[:-1])
        becomes(lambda: client.service.expected("slow") == 3)
        connection.sendall(several[-1:])
        becomes(lambda: client.service.expected("slow") == 4)


def test_a_chunk_of_a_wrong_size_is_answered(client: Client) -> None:
    with connected(client.host) as connection:
        connection.sendall(UNFINISHED["chunk"].replace(b"ff\r\n{", b"nonsense\r\n"))
        assert status_of(until_closed(connection)) == 400


def test_the_service_ends_while_a_body_is_unfinished(tmp_path: Path) -> None:
    with served(tmp_path, Access(patience=LONG)) as client, connected(client.host) as connection:
        connection.sendall(UNFINISHED["body"])
        becomes(lambda: len(client.serving.connections) == 1)
        client.serving.stop()
        assert until_closed(connection) == b""


@pytest.mark.parametrize("part", UNFINISHED)
def test_a_thousand_unfinished_requests_do_not_keep_a_batch_out(tmp_path: Path, part: str) -> None:
    access = Access(head_patience=LONG, patience=LONG)
    with served(tmp_path, access) as client, unfinished(client.host, [UNFINISHED[part]] * 1000):
        assert client.post(1, STALE).document["taken"] == 3
        assert len(client.serving.connections) <= access.connections[0]
        assert client.get("/v1/status").status == 200


def test_all_clients_together_have_a_bound_as_well(tmp_path: Path) -> None:
    access = Access(head_patience=LONG, connections=(10, 15))
    with (
        served(tmp_path, access) as client,
        unfinished(client.host, [UNFINISHED["headers"]] * 30),
    ):
        assert client.post(1, STALE).status == 200
        becomes(lambda: len(client.serving.connections) <= 10)


def test_listeners_of_one_client_are_bounded_and_the_newest_one_hears(tmp_path: Path) -> None:
    with served(tmp_path, Access(connections=(20, 30))) as client:
        many = [b"GET /v1/events HTTP/1.1\r\n%s\r\n" % HOST] * 50
        with unfinished(client.host, many), client.listening() as events:
            assert next(events)[0] == "status"
            assert client.post(1, STALE).status == 200


def test_unfinished_bodies_do_not_take_the_space_of_batches_that_come(tmp_path: Path) -> None:
    access = Access(body=1 << 20, under_way=3 << 20, patience=LONG)
    start = UNFINISHED["body"].replace(b"Content-Length: 1000", b"Content-Length: 1000000")
    with (
        served(tmp_path, access) as client,
        unfinished(client.host, [start + b" " * 900_000] * 6),
    ):
        for sequence, part in enumerate(in_batches(chain(4000), 2000), start=1):
            assert client.post(sequence, part).status == 200


def test_requests_that_are_sent_before_the_answers_are_bounded(client: Client) -> None:
    with connected(client.host) as connection:
        with suppress(ConnectionError):
            connection.sendall(request(b"X: y").replace(b"Connection: close\r\n", b"") * 5000)
        assert until_closed(connection).count(b"HTTP/1.1 200") < 5000
    assert client.post(1, STALE).status == 200
