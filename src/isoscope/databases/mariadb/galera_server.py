"""Nodes of a Galera cluster on this machine, for one run.

The first node makes a cluster of its own and is stopped; the others begin with a copy of its data. So no node
needs the data of another one as a whole, only the transactions that it missed.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from secrets import token_hex
from time import monotonic
from typing import TYPE_CHECKING

from isoscope.databases.mariadb.connection import Place, connect, errors
from isoscope.databases.mariadb.server import WITH_LOG, find_programs, options
from isoscope.errors import DatabaseError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from isoscope.databases.nodes import Nodes
    from isoscope.databases.process import Server

__all__ = ["start_nodes"]

_PORT, _GROUP, _TRANSFER, _FILES = 3306, 4567, 4568, 4444
#: Seconds until all nodes are ready, on a busy machine, and for one question whether a node is.
_PATIENCE, _GLANCE = 300.0, 10.0
#: A node that was killed asks its own files up to which transaction they go, and joins from there.
_JOIN = """
log=$PWD/recovery
rm -f "$log"
"$@" --wsrep-recover --log-error="$log"
position=$(sed -n 's/.*Recovered position: *//p' "$log" | tail -n 1)
exec "$@" ${position:+--wsrep-start-position="$position"}
"""
_ACCOUNTS = """\
CREATE USER {user}@'%' IDENTIFIED BY '{password}';
GRANT ALL ON *.* TO {user}@'%' WITH GRANT OPTION;
DROP USER IF EXISTS root@localhost, root@'127.0.0.1';
"""
#: A node is suspected after a second of silence; the default of five is long for a run of a minute.
_PROVIDER = {
    "evs.keepalive_period": "PT0.3S",
    "evs.inactive_check_period": "PT0.3S",
    "evs.suspect_timeout": "PT1S",
    "evs.inactive_timeout": "PT3S",
    "gcache.size": "64M",
}
_OPTIONS = (
    "--wsrep-on=ON",
    "--wsrep-cluster-name=isoscope",
    "--wsrep-sst-method=rsync",
    "--innodb-autoinc-lock-mode=2",
    "--innodb-log-file-size=16M",
    "--log-slave-updates=ON",
    *WITH_LOG,
)


def start_nodes(nodes: Nodes, count: int, library: Path, settings: Mapping[str, str]) -> dict[str, Place]:
    """Starts `count` nodes; returns where each is. Raises `DatabaseError`, and leaves closing to others."""
    program, install = find_programs()
    nodes.make(count, users=("mysql", "nobody"))
    user = Place(host="", port=0, user="isoscope", password=token_hex(16))
    places = {name: replace(user, host=nodes.addresses[name], port=nodes.port(_PORT)) for name in nodes.names}
    commands = _commands(nodes, places, program, library, settings)
    first = nodes.names[0]
    _found(nodes, first, commands[first], install, places[first])
    _copy(nodes, first)
    for name, server in nodes.servers.items():
        joins = ["/bin/sh", "-c", _JOIN, "isoscope-galera", *commands[name]]
        command = [*commands[name], "--wsrep-new-cluster"] if name == first else joins
        server.start_node(command, partial(_is_ready, places[name]), seconds=_PATIENCE)
        server.start_again_with(joins)
    _wait(nodes)
    return places


def _commands(
    nodes: Nodes, places: Mapping[str, Place], program: str, library: Path, settings: Mapping[str, str]
) -> dict[str, list[str]]:
    ports = {name: [nodes.port(usual) for usual in (_GROUP, _TRANSFER, _FILES)] for name in nodes.names}
    # Other nodes reach a node there; with relays these are addresses of theirs, with the same ports.
    groups = {name: nodes.relayed(name, ports[name][0]) for name in nodes.names}
    transfers = {name: nodes.relayed(name, ports[name][1]) for name in nodes.names}
    cluster = ",".join(f"{host}:{port}" for host, port in groups.values())
    found = {}
    for name in nodes.names:
        host, (group, transfer, files) = nodes.addresses[name], ports[name]
        provider = {
            **_PROVIDER,
            "base_port": str(group),
            "gmcast.listen_addr": f"tcp://{host}:{group}",
            "ist.recv_addr": "{}:{}".format(*transfers[name]),
            "ist.recv_bind": f"{host}:{transfer}",
        }
        found[name] = [
            program,
            *_own(nodes.servers[name]),
            *options(host),
            *_OPTIONS,
            f"--port={places[name].port}",
            # The user of the server may not be allowed to read the folder of packages.
            f"--wsrep-provider={nodes.servers[name].take_file(library)}",
            f"--wsrep-provider-options={';'.join(f'{key}={value}' for key, value in provider.items())}",
            f"--wsrep-cluster-address=gcomm://{cluster}",
            f"--wsrep-node-name={name}",
            "--wsrep-node-address={}:{}".format(*groups[name]),
            f"--wsrep-node-incoming-address={host}:{places[name].port}",
            # A copy of all data goes past the relays: it begins only while the nodes hear each other.
            f"--wsrep-sst-receive-address={host}:{files}",
            *(f"--{setting}={value}" for setting, value in settings.items()),
        ]
    return found


def _found(nodes: Nodes, name: str, command: list[str], install: str, place: Place) -> None:
    """Makes the data of the first node, and with it a cluster; the node is stopped again."""
    server = nodes.servers[name]
    server.run([install, *_own(server), "--auth-root-authentication-method=normal", "--skip-test-db"])
    server.write("accounts.sql", _ACCOUNTS.format(user=place.user, password=place.password))
    accounts = server.folder / "accounts.sql"
    server.start_node(
        [*command, "--wsrep-new-cluster", f"--init-file={accounts}"],
        partial(_is_ready, place),
        seconds=_PATIENCE,
    )
    server.end_process(seconds=_PATIENCE)


def _own(server: Server) -> tuple[str, str]:
    return "--no-defaults", f"--datadir={server.folder / 'data'}"


def _copy(nodes: Nodes, first: str) -> None:
    """Gives every node a copy of the data of the first one."""
    source = nodes.servers[first].folder / "data"
    for name, server in nodes.servers.items():
        if name != first:
            server.take(source, "data")
    nodes.keep_data()


def _wait(nodes: Nodes) -> None:
    end = monotonic() + _PATIENCE
    for server in nodes.servers.values():
        if not server.wait_until_ready(end):
            raise server.error("a node of Galera is not ready")


def _is_ready(place: Place) -> bool:
    """Whether the node is one of the cluster, and has all its transactions."""
    try:
        connection = connect(place, patience=_GLANCE)
        try:
            with connection.cursor() as cursor:
                cursor.execute("SHOW STATUS LIKE 'wsrep_ready'")
                return bool(cursor.fetchone()[1] == "ON")
        finally:
            connection.close()
    except (DatabaseError, errors()):
        return False
