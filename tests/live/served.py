"""A server in this process, on a port of its own, and its client."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from threading import Thread
from typing import TYPE_CHECKING, Any

from isoscope.live.access import Access
from isoscope.live.http_server import HttpServer, listen
from isoscope.live.journal import Fsync
from isoscope.live.service import Service, Settings

from .sent_batches import body as lines

if TYPE_CHECKING:
    from collections.abc import Iterator
    from http.client import HTTPResponse
    from pathlib import Path


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def document(self) -> Any:
        return json.loads(self.body)


class Client:
    """One connection."""

    def __init__(self, url: str, service: Service, serving: HttpServer) -> None:
        self.url, self.service, self.serving = url, service, serving
        self.host = url.removeprefix("http://")
        self.connection = HTTPConnection(self.host, timeout=30)

    def ask(self, method: str, path: str, body: Any = None, **headers: object) -> Answer:
        named = {name.replace("_", "-"): str(value) for name, value in headers.items()}
        self.connection.request(method, path, body, named)
        answer = self.connection.getresponse()
        return Answer(answer.status, {k.lower(): v for k, v in answer.headers.items()}, answer.read())

    def get(self, path: str, **headers: object) -> Answer:
        return self.ask("GET", path, **headers)

    def post(
        self,
        sequence: object,
        content: bytes | list[dict[str, Any]],
        *,
        collector: Any = "c",
        **headers: object,
    ) -> Answer:
        sent = content if isinstance(content, bytes) else lines(content)
        named = {
            "X_Isoscope_Collector": collector,
            "X_Isoscope_Sequence": sequence,
            "Content_Type": "application/x-ndjson",
        }
        return self.ask("POST", "/v1/batches", sent, **{**named, **headers})

    @contextmanager
    def listening(
        self, path: str = "/v1/events", **headers: object
    ) -> Iterator[Iterator[tuple[str, int, Any]]]:
        """EventLog: kind, number and data."""
        connection = HTTPConnection(self.host, timeout=30)
        connection.request("GET", path, headers={n.replace("_", "-"): str(v) for n, v in headers.items()})
        answer = connection.getresponse()
        assert answer.headers["content-type"].startswith("text/event-stream")
        try:
            yield _events(answer)
        finally:
            answer.close()
            connection.close()


def _events(answer: HTTPResponse) -> Iterator[tuple[str, int, Any]]:
    fields: dict[str, str] = {}
    for line in answer:
        text = line.decode().rstrip("\n")
        if not text:
            yield fields["event"], int(fields.get("id", 0)), json.loads(fields["data"])
            fields = {}
        else:
            name, _, value = text.partition(": ")
            fields[name] = value


@contextmanager
def served(
    folder: Path,
    access: Access | None = None,
    settings: Settings | None = None,
    *,
    drain: float = 5.0,
    port: int = 0,
) -> Iterator[Client]:
    service = Service(folder, settings or Settings(fsync=Fsync.NEVER))
    serving = HttpServer(service, access or Access(), listen("127.0.0.1", port), drain=drain)
    thread = Thread(target=serving.run)
    thread.start()
    client = Client(serving.url, service, serving)
    try:
        yield client
    finally:
        client.connection.close()
        serving.stop()
        thread.join(30)
        service.close()
    assert not thread.is_alive()
