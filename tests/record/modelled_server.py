"""A server that speaks PostgreSQL's protocol and answers from a table: databases that cannot be had here."""

from __future__ import annotations

import re
import struct
from collections import defaultdict
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from socketserver import BaseRequestHandler, ThreadingTCPServer
from threading import Thread
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import socket
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["Answer", "ModelledServer", "Table", "modelled"]

_SSL, _START = 80877103, 196608
_INT, _TEXT = 20, 25
_ENDS = ("COMMIT", "ROLLBACK")
_COMMANDS = ("SAVEPOINT", "RELEASE", "ROLLBACK", "SET", "PREPARE", "DEALLOCATE")
_SETTINGS = {
    "server_version": "13.0.0",
    "client_encoding": "UTF8",
    "standard_conforming_strings": "on",
    "DateStyle": "ISO, MDY",
}


@dataclass(frozen=True)
class Answer:
    """The columns of a result with its rows (numbers are integers, all else texts), or an error."""

    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Any, ...], ...] = ()
    tag: str = ""
    error: str = ""


#: The answers to each statement, one for each time that it comes; the last one stays.
Table: TypeAlias = "Mapping[str, Sequence[Answer]]"


@dataclass
class ModelledServer:
    """The statements that came, of each connection, and the answers to them."""

    answers: Table
    port: int = 0
    sent: dict[int, list[str]] = field(default_factory=lambda: defaultdict(list))
    times: dict[str, int] = field(default_factory=lambda: defaultdict(int))

    @property
    def url(self) -> str:
        """The connection string."""
        return f"host=127.0.0.1 port={self.port} user=root dbname=shop sslmode=disable gssencmode=disable"

    def answer(self, connection: int, sql: str) -> Answer:
        """The answer to a statement; an error if there is none."""
        text = " ".join(sql.split()).rstrip(";")
        self.sent[connection].append(text)
        found = next((answers for known, answers in self.answers.items() if _is_like(known, text)), None)
        if found is None:
            return Answer() if text.split()[0].upper() in _COMMANDS else Answer(error="42601")
        self.times[text] += 1
        return found[min(self.times[text], len(found)) - 1]


def _is_like(known: str, text: str) -> bool:
    """A text that ends in `...` stands for all that begin with the rest."""
    return text.startswith(known[:-3]) if known.endswith("...") else text == known


@contextmanager
def modelled(answers: Table) -> Iterator[ModelledServer]:
    """The server, on a port of this machine."""
    model = ModelledServer(answers)

    class Handler(BaseRequestHandler):
        def handle(self) -> None:
            with suppress(ConnectionError, struct.error):
                _Connection(model, self.request, len(model.sent)).run()

    class Server(ThreadingTCPServer):
        daemon_threads, block_on_close = True, False

    with Server(("127.0.0.1", 0), Handler) as server:
        model.port = server.server_address[1]
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield model
        finally:
            server.shutdown()
            thread.join()


class _Connection:
    """One connection: the messages of the protocol, and the state of its transaction."""

    def __init__(self, model: ModelledServer, peer: socket.socket, number: int) -> None:
        self._model, self._peer, self._number = model, peer, number
        self._state = b"I"
        self._parsed: dict[bytes, str] = {}
        self._bound = ""

    def run(self) -> None:
        self._model.sent[self._number] = []
        while struct.unpack("!II", self._exactly(8))[1] == _SSL:
            self._peer.sendall(b"N")
        self._peer.recv(8192)
        self._send(b"R", struct.pack("!I", 0))
        for name, value in _SETTINGS.items():
            self._send(b"S", f"{name}\0{value}\0".encode())
        self._ready()
        while (kind := self._peer.recv(1)) and kind != b"X":
            self._message(kind, self._exactly(struct.unpack("!I", self._exactly(4))[0] - 4))

    def _message(self, kind: bytes, body: bytes) -> None:
        if kind == b"Q":
            self._execute(body.rstrip(b"\0").decode())
            self._ready()
        elif kind == b"P":
            name, sql, _ = body.split(b"\0", 2)
            self._parsed[name] = sql.decode()
            self._send(b"1", b"")
        elif kind == b"B":
            _, name, values = body.split(b"\0", 2)
            self._bound = _with_values(self._parsed[name], values)
            self._send(b"2", b"")
        elif kind == b"E":
            self._execute(self._bound)
        elif kind == b"S":
            self._ready()

    def _execute(self, sql: str) -> None:
        word = sql.split(None, 1)[0].upper().rstrip(";")
        is_back = sql.upper().startswith("ROLLBACK TO")
        if self._state == b"E" and word not in _ENDS:
            self._model.sent[self._number].append(sql)
            self._fail("25P02")
            return
        found = self._model.answer(self._number, sql)
        if word == "BEGIN":
            self._state, found = b"T", Answer(tag="BEGIN")
        elif word in _ENDS and not is_back:
            failed, self._state = self._state == b"E", b"I"
            if found.error not in ("40001", "40003"):
                found = Answer(tag="ROLLBACK" if failed else word)
        elif is_back:
            self._state = b"T"
        if found.error:
            self._fail(found.error)
        else:
            self._answer(found, word)

    def _answer(self, found: Answer, word: str) -> None:
        if found.columns:
            kinds = [
                _INT if all(isinstance(row[at], int) for row in found.rows) and found.rows else _TEXT
                for at in range(len(found.columns))
            ]
            columns = b"".join(
                name.encode() + b"\0" + struct.pack("!IhIhih", 0, 0, kind, -1, -1, 0)
                for name, kind in zip(found.columns, kinds, strict=True)
            )
            self._send(b"T", struct.pack("!H", len(found.columns)) + columns)
        for row in found.rows:
            self._send(b"D", struct.pack("!H", len(row)) + b"".join(map(_cell, row)))
        count = len(found.rows)
        tags = {"INSERT": f"INSERT 0 {count}", "UPDATE": f"UPDATE {count}", "SELECT": f"SELECT {count}"}
        self._send(b"C", (found.tag or tags.get(word, word)).encode() + b"\0")

    def _fail(self, sqlstate: str) -> None:
        self._state = b"E" if self._state != b"I" else b"I"
        self._send(b"E", f"SERROR\0VERROR\0C{sqlstate}\0Mmodelled {sqlstate}\0\0".encode())

    def _ready(self) -> None:
        self._send(b"Z", self._state)

    def _send(self, kind: bytes, body: bytes) -> None:
        self._peer.sendall(kind + struct.pack("!I", len(body) + 4) + body)

    def _exactly(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            more = self._peer.recv(count - len(data))
            if not more:
                raise ConnectionError
            data += more
        return data


def _cell(value: Any) -> bytes:
    if value is None:
        return struct.pack("!i", -1)
    data = str(value).encode()
    return struct.pack("!i", len(data)) + data


def _with_values(sql: str, formats_and_values: bytes) -> str:
    """The text of a statement with its parameters, from a message that binds them."""
    body = formats_and_values
    (formats,) = struct.unpack("!H", body[:2])
    kinds = struct.unpack(f"!{formats}H", body[2 : 2 + 2 * formats])
    at = 2 + 2 * formats
    (count,) = struct.unpack("!H", body[at : at + 2])
    at, values = at + 2, []
    for place in range(count):
        (length,) = struct.unpack("!i", body[at : at + 4])
        data = body[at + 4 : at + 4 + max(0, length)]
        at += 4 + max(0, length)
        is_binary = bool(kinds) and kinds[place if formats > 1 else 0] == 1
        values.append("NULL" if length < 0 else _shown(data, is_binary=is_binary))
    return re.sub(r"\$(\d+)", lambda found: values[int(found[1]) - 1], sql)


def _shown(data: bytes, *, is_binary: bool) -> str:
    if not is_binary:
        return data.decode()
    return str(int.from_bytes(data, "big", signed=True)) if len(data) in (2, 4, 8) else data.decode()
