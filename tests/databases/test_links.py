"""Links between nodes: partitions and delays, by network namespaces and by relays."""

from __future__ import annotations

import math
import os
import socket
import sys
from contextlib import suppress
from functools import partial
from threading import active_count
from typing import TYPE_CHECKING

import pytest

from isoscope.databases import nodes as nodes_module
from isoscope.databases.links import DELAY
from isoscope.databases.nodes import Nodes
from isoscope.databases.process import free_port
from isoscope.databases.process_family import connected_socket, has_socket
from isoscope.databases.slow_links import can_delay
from isoscope.errors import DatabaseError, UsageError
from isoscope.levels import Level
from isoscope.verdict import Outcome
from tests.databases.conformance import server_marks
from tests.databases.patient_runs import run_with_faults
from tests.interrupts import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

#: More than fits into one packet.
SIZE = 300_000
#: A node: gives its data to all; says how long it waited for that of another one, and who it is to that one.
NODE = """
import socket, sys, threading, time
def serve(client):
    with client:
        told = client.makefile().readline().split()
        if not told:
            return
        if told[0] == "give":
            return client.sendall(b"x" * int(told[1]))
        if told[0] == "who":
            return client.sendall(client.getpeername()[0].encode())
        if told[2] == "who":
            with socket.create_connection((told[0], int(told[1])), timeout=2) as peer:
                peer.sendall(b"who\\n")
                return client.sendall(peer.recv(100))
        began = time.monotonic()
        try:
            with socket.create_connection((told[0], int(told[1])), timeout=2) as peer:
                peer.settimeout(2)
                peer.sendall(f"give {told[2]}\\n".encode())
                size = sum(map(len, iter(lambda: peer.recv(1 << 16), b"")))
            said = time.monotonic() - began if size == int(told[2]) else "cut short"
        except OSError:
            said = "inf"
        client.sendall(str(said).encode())
listener = socket.create_server((sys.argv[1], int(sys.argv[2])))
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],)).start()
"""
needs_namespaces = pytest.mark.skipif(
    os.geteuid() != 0 or not can_delay(), reason="needs root and the device /dev/net/tun"
)


def no_namespaces(_kind: str) -> bool:
    return False


@pytest.fixture(params=["relays", pytest.param("namespaces", marks=needs_namespaces)])
def nodes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Nodes]:
    if request.param == "relays":
        monkeypatch.setattr(nodes_module, "can_make_network", no_namespaces)
    one = Nodes("peer", ("partition", "slow"), print)
    yield one
    one.close()


class Cluster:
    """Nodes, where clients reach them, and where other nodes do."""

    def __init__(self, nodes: Nodes, count: int) -> None:
        nodes.make(count)
        self.clients = {name: (nodes.addresses[name], nodes.port(2000)) for name in nodes.names}
        self.peers = {name: nodes.relayed(name, port) for name, (_, port) in self.clients.items()}
        for name, place in self.clients.items():
            command = [sys.executable, "-c", NODE, place[0], str(place[1])]
            nodes.servers[name].start_node(command, partial(self.is_ready, name))

    def is_ready(self, node: str) -> bool:
        """Whether a node answers."""
        return self.said(node, "give 1") == b"x"

    def said(self, node: str, request: str) -> bytes:
        """The answer of a node to a client; empty if there is none."""
        with suppress(OSError), socket.create_connection(self.clients[node], timeout=5) as client:
            client.sendall(f"{request}\n".encode())
            return client.recv(100)
        return b""

    def seconds(self, node: str, other: str, size: int = 1) -> float:
        """How long a node waits for so much data of another one."""
        host, port = self.peers[other]
        return float(self.said(node, f"{host} {port} {size}"))


def test_a_separated_node_and_the_others_hear_nothing_of_each_other_and_clients_reach_all(
    nodes: Nodes,
) -> None:
    cluster = Cluster(nodes, 3)
    nodes.inject("partition", "n1")
    assert math.isinf(cluster.seconds("n1", "n2"))
    assert math.isinf(cluster.seconds("n2", "n1"))
    assert math.isfinite(cluster.seconds("n2", "n3"))
    assert cluster.said("n1", "give 1") == b"x"
    nodes.heal("partition", "n1")
    assert math.isfinite(cluster.seconds("n2", "n1"))


def test_a_slow_node_and_the_others_hear_of_each_other_later(nodes: Nodes) -> None:
    cluster = Cluster(nodes, 3)
    nodes.inject("slow", "n1")
    for node, other in (("n1", "n2"), ("n2", "n1")):
        assert DELAY <= cluster.seconds(node, other, SIZE) < math.inf
    wait_until(lambda: cluster.seconds("n2", "n3") < DELAY)
    nodes.heal("slow", "n1")
    wait_until(lambda: cluster.seconds("n1", "n2") < DELAY)


def test_relays_end_with_the_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nodes_module, "can_make_network", no_namespaces)
    before = active_count()
    nodes = Nodes("peer", ("slow",), print)
    cluster = Cluster(nodes, 2)
    nodes.inject("slow", "n1")
    cluster.seconds("n1", "n2")
    assert active_count() == before + 1
    nodes.close()
    assert active_count() == before
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(cluster.peers["n1"], timeout=1)


def test_nodes_that_learn_an_address_from_a_connection_learn_that_of_a_relay(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(nodes_module, "can_make_network", no_namespaces)
    nodes = Nodes("peer", ("partition",), print)
    try:
        cluster = Cluster(nodes, 2)
        host, port = cluster.peers["n1"]
        assert (host == cluster.clients["n1"][0], port) == (False, cluster.clients["n1"][1])
        assert cluster.said("n2", f"{host} {port} who").decode() == cluster.peers["n2"][0]
    finally:
        nodes.close()


@pytest.mark.parametrize("kind", [socket.AF_INET, socket.AF_INET6])
def test_the_process_of_a_connection_is_found_also_if_its_socket_is_one_of_ipv6(kind: int) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.socket(kind) as client:
        to = listener.getsockname()[1]
        client.connect(("::ffff:127.0.0.1" if kind == socket.AF_INET6 else "127.0.0.1", to))
        accepted, (_, port, *_) = listener.accept()
        accepted.close()
        assert has_socket(os.getpid(), connected_socket(port, to))


def test_a_relay_that_cannot_listen_is_one_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nodes_module, "can_make_network", no_namespaces)
    nodes = Nodes("peer", ("partition",), print)
    try:
        nodes.make(1)
        place = "n1", free_port()
        nodes.relayed(*place)
        with pytest.raises(DatabaseError, match="no relay can listen in front of a node"):
            nodes.relayed(*place)
    finally:
        nodes.close()


def test_faults_of_links_need_linux(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nodes_module, "can_make_network", no_namespaces)
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(UsageError, match="the fault `slow` needs Linux\n\nhint: leave it out"):
        Nodes("peer", ("kill", "slow"), print)


@pytest.mark.parametrize("name", [pytest.param("etcd", marks=server_marks("etcd"))])
@pytest.mark.parametrize("how", ["relays", pytest.param("namespaces", marks=needs_namespaces)])
def test_etcd_stays_strict_serializable_with_slow_links_and_partitions(
    name: str, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if how == "relays":
        monkeypatch.setattr(nodes_module, "can_make_network", no_namespaces)
    completed = run_with_faults(name, "slow@1s:n1,partition@4s:n2", seconds=8, every=4)
    report = completed.check(levels=(Level.STRICT_SERIALIZABLE,))
    assert report[Level.STRICT_SERIALIZABLE].outcome is Outcome.HOLDS
