"""A zero and alphas of Dgraph on this machine, for one run."""

from __future__ import annotations

import os
import shutil
from contextlib import closing
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING

from isoscope.databases.database import Aborted, ConnectionLost
from isoscope.databases.dgraph.client import Client
from isoscope.databases.process import Server, free_port, is_free
from isoscope.errors import DatabaseError

if TYPE_CHECKING:
    from collections.abc import Callable

    from isoscope.databases.nodes import Nodes

__all__ = ["Server", "find_program", "start"]

#: Seconds until all processes are ready, also on a busy machine.
_PATIENCE = 180.0
#: Seconds of one question whether a process is ready.
_GLANCE = 5.0
_HOST = "127.0.0.1"
#: Nothing is told to the vendor.
_QUIET = ("--bindall=false", "--telemetry=reports=false; sentry=false")
#: Ports of a zero and of an alpha are these plus an offset, the same for all of one process.
_ZERO, _ZERO_HTTP, _ALPHA, _HTTP, _GRPC = 5080, 6080, 7080, 8080, 9080
_TRIES = 100


def find_program(url: str) -> str:
    """The program of Dgraph; raises `DatabaseError` if there is none."""
    program = os.environ.get("ISOSCOPE_DGRAPH") or shutil.which("dgraph")
    if not program:
        raise DatabaseError(
            "Dgraph cannot be started: there is no dgraph on this machine\n\n"
            f"hint: ISOSCOPE_DGRAPH names the program; or give its URL: {url}"
        )
    return program


def start(program: str, zero: Server, nodes: Nodes, count: int, replicas: int) -> dict[str, tuple[str, int]]:
    """Starts a zero and `count` alphas; returns where clients reach each alpha. Raises `DatabaseError`."""
    end = monotonic() + _PATIENCE
    offset = _offset(_ZERO, _ZERO_HTTP)
    place = f"{_HOST}:{_ZERO + offset}"
    command = [program, "zero", *_QUIET, f"--port_offset={offset}", f"--my={place}", "--wal=wal"]
    ready = partial(_has_state, _ZERO_HTTP + offset)
    zero.start_node([*command, f"--replicas={replicas}"], ready, seconds=_PATIENCE)
    nodes.make(count)
    places = {}
    for name, server in nodes.servers.items():
        offset = _offset(_ALPHA, _HTTP, _GRPC)
        places[name] = _HOST, _HTTP + offset
        own = [f"--port_offset={offset}", f"--my={_HOST}:{_ALPHA + offset}", "--postings=data", "--wal=wal"]
        command = [
            program,
            "alpha",
            *_QUIET,
            *own,
            f"--zero={place}",
            "--tmp=temporary",
            "--cache=size-mb=128",
        ]
        server.spawn_node(command, partial(_has_timestamps, _HTTP + offset))
    for server in nodes.servers.values():
        if not server.wait_until_ready(end):
            raise server.error("Dgraph did not start")
    return places


def _offset(*usual: int) -> int:
    """An offset with which these ports are free."""
    for _ in range(_TRIES):
        offset = free_port() - max(usual)
        if offset > 0 and all(map(is_free, (one + offset for one in usual))):
            return offset
    raise DatabaseError("Dgraph cannot be started: no ports are free")


def _has_state(port: int) -> bool:
    """Whether a zero answers."""
    return _is_answered(port, lambda client: client.get("/state"))


def _has_timestamps(port: int) -> bool:
    """Whether an alpha answers a query, for which it asks the zero for a timestamp."""
    query = "{ nothing(func: uid(1)) { uid } }"
    return _is_answered(port, lambda client: client.post("/query", query, kind="application/dql"))


def _is_answered(port: int, question: Callable[[Client], object]) -> bool:
    try:
        with closing(Client(_HOST, port, patience=_GLANCE)) as client:
            question(client)
    except (Aborted, ConnectionLost, DatabaseError):
        return False
    return True
