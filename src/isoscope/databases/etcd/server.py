"""Nodes of etcd on this machine, for one run."""

from __future__ import annotations

from contextlib import closing
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING

from isoscope.databases.database import ConnectionLost
from isoscope.databases.etcd.client import Client, Refused, encoded

if TYPE_CHECKING:
    from isoscope.databases.nodes import Nodes

__all__ = ["start"]

#: Milliseconds between two signs of life of a leader, and until a node takes it for dead.
_HEARTBEAT, _ELECTION = 100, 1000
#: Seconds until all nodes are ready.
_PATIENCE = 60.0
_CLIENTS, _PEERS = 2379, 2380


def start(program: str, nodes: Nodes, count: int) -> dict[str, tuple[str, int]]:
    """Starts `count` nodes; returns the address of each for clients. Raises `DatabaseError`."""
    nodes.make(count)
    ports = {name: (nodes.port(_CLIENTS), nodes.port(_PEERS)) for name in nodes.names}
    peers = {name: "http://{}:{}".format(*nodes.relayed(name, ports[name][1])) for name in nodes.names}
    cluster = ",".join(f"{name}={peer}" for name, peer in peers.items())
    for name, server in nodes.servers.items():
        host, port = nodes.addresses[name], ports[name][0]
        clients = f"http://{host}:{port}"
        command = [
            program,
            f"--name={name}",
            "--data-dir=data",
            f"--listen-client-urls={clients}",
            f"--advertise-client-urls={clients}",
            f"--listen-peer-urls=http://{host}:{ports[name][1]}",
            f"--initial-advertise-peer-urls={peers[name]}",
            f"--initial-cluster={cluster}",
            f"--heartbeat-interval={_HEARTBEAT}",
            f"--election-timeout={_ELECTION}",
            "--max-txn-ops=100000",
            "--log-level=error",
        ]
        server.spawn_node(command, partial(_answers, host, port))
    end = monotonic() + _PATIENCE
    for server in nodes.servers.values():
        if not server.wait_until_ready(end):
            raise server.error("etcd did not start")
    _keep_first_data(nodes)
    return {name: (nodes.addresses[name], ports[name][0]) for name in nodes.names}


def _keep_first_data(nodes: Nodes) -> None:
    """Keeps the data of nodes for the fault `old-data`; for that they are stopped and started again."""
    if not nodes.keeps_data:
        return
    for server in nodes.servers.values():
        server.kill()
    nodes.keep_data()
    end = monotonic() + _PATIENCE
    for server in nodes.servers.values():
        server.respawn()
    for server in nodes.servers.values():
        if not server.wait_until_ready(end):
            raise server.error("etcd did not start again")


def _answers(host: str, port: int) -> bool:
    """Whether the node knows a leader: it answers a read that asks the others."""
    try:
        with closing(Client(host, port)) as client:
            client.post("kv/range", {"key": encoded("isoscope")})
    except (ConnectionLost, Refused):
        return False
    return True
