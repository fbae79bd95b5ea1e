"""A temporary primary of PostgreSQL with hot standbys, which answer reads from the log that they receive."""

from __future__ import annotations

import secrets
import signal
from functools import partial
from typing import TYPE_CHECKING, Any

from isoscope.databases.postgresql.connection import driver
from isoscope.databases.postgresql.server import INITDB, USERS, find_programs, parameters_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from isoscope.databases.nodes import Nodes

__all__ = ["start_nodes"]

_PORT = 5432
#: A standby with old data asks for all of the log since then.
_KEPT_LOG = {"wal_keep_size": "16GB"}
#: In a network of its own, nodes and clients have other addresses than that of this machine.
_CLIENTS = "host all all 0.0.0.0/0 scram-sha-256\nhost replication all 0.0.0.0/0 scram-sha-256\n"


def start_nodes(nodes: Nodes, count: int, parameters: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """Starts a primary, n1, and standbys; returns the parameters of a connection to each.

    Raises `DatabaseError`; the nodes are then to be closed.
    """
    programs = find_programs()
    nodes.make(count, users=USERS, stop_signal=signal.SIGQUIT)
    shared = {
        "user": "isoscope",
        "password": secrets.token_hex(16),
        "dbname": "postgres",
        "sslmode": "disable",
        "gssencmode": "disable",
    }
    places: dict[str, dict[str, Any]] = {
        name: {**shared, "host": nodes.addresses[name], "port": nodes.port(_PORT)} for name in nodes.names
    }
    primary, *standbys = nodes.names
    _make_primary(nodes, primary, programs, shared["password"])
    parameters = {**parameters, **_KEPT_LOG} if nodes.keeps_data else parameters
    _start(nodes, primary, programs, places[primary], parameters)
    for name in standbys:
        host, port = nodes.relayed(primary, places[primary]["port"])
        _make_standby(nodes, name, programs, {**places[primary], "host": host, "port": port})
        nodes.keep_data(name)
        _start(nodes, name, programs, places[name], parameters)
    return places


def _make_primary(nodes: Nodes, name: str, programs: Path, password: str) -> None:
    server = nodes.servers[name]
    server.write("password", password)
    server.run([str(programs / "initdb"), "--pgdata=data", "--username=isoscope", *INITDB])
    with (server.folder / "data" / "pg_hba.conf").open("a") as file:
        file.write(_CLIENTS)


def _make_standby(nodes: Nodes, name: str, programs: Path, primary: Mapping[str, Any]) -> None:
    """Copies the primary; the copy knows where its log comes from."""
    command = [
        str(programs / "pg_basebackup"),
        f"--host={primary['host']}",
        f"--port={primary['port']}",
        f"--username={primary['user']}",
        "--pgdata=data",
        "--write-recovery-conf",
        "--checkpoint=fast",
        "--no-sync",
    ]
    nodes.servers[name].run(command, env={"PGPASSWORD": str(primary["password"])})


def _start(
    nodes: Nodes, name: str, programs: Path, place: Mapping[str, Any], parameters: Mapping[str, str]
) -> None:
    told = {**parameters_of(parameters), "listen_addresses": place["host"], "port": str(place["port"])}
    options = [f"--{setting}={value}" for setting, value in told.items()]
    command = [str(programs / "postgres"), "-D", "data", *options]
    nodes.servers[name].start_node(command, partial(_answers, place))


def _answers(place: Mapping[str, Any]) -> bool:
    psycopg = driver()
    try:
        psycopg.connect(**place, connect_timeout=2).close()
    except psycopg.OperationalError:
        return False
    return True
