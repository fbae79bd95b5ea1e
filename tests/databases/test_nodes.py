"""Nodes on this machine: faults, their network, and that nothing is left, however the run ends."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from isoscope.databases.network import Network
from isoscope.databases.nodes import Nodes
from isoscope.errors import UsageError
from tests.interrupts import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

#: A node: listens, and has a child that is to go with it.
NODE = """
import socket, subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
listener = socket.create_server((sys.argv[1], int(sys.argv[2])))
while True:
    listener.accept()[0].sendall(b"hello")
"""
#: A run with two nodes, one of them paused, which says where they are and waits to be killed.
PARENT = """
import sys, time
from isoscope.databases.nodes import Nodes
from tests.databases.test_nodes import start
nodes = Nodes("listener", sys.argv[1:], cut=print)
start(nodes, 2)
nodes.inject("pause", "n2")
print(*(server._process.pid for server in nodes.servers.values()), flush=True)
print(*(server.folder for server in nodes.servers.values()), flush=True)
print(*(holder.pid for holder in (nodes._network._holders if nodes._network else ())), flush=True)
time.sleep(600)
"""
needs_root = pytest.mark.skipif(
    os.geteuid() != 0 or not sys.platform.startswith("linux"), reason="only root can make network namespaces"
)


def start(nodes: Nodes, count: int) -> dict[str, tuple[str, int]]:
    nodes.make(count)
    places = {name: (nodes.addresses[name], nodes.port(2000)) for name in nodes.names}
    for name, (host, port) in places.items():
        command = [sys.executable, "-c", NODE, host, str(port)]
        nodes.servers[name].start_node(command, partial(answers, (host, port)))
    return places


def answers(place: tuple[str, int], *, patience: float = 0.3) -> bool:
    with suppress(OSError), socket.create_connection(place, timeout=patience) as client:
        client.settimeout(patience)
        return client.recv(5) == b"hello"
    return False


def children(pid: int) -> list[int]:
    return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.fixture
def nodes() -> Iterator[Nodes]:
    cut: list[str] = []
    one = Nodes("listener", ("kill", "pause", "cut"), cut.append)
    yield one
    one.close()


def test_a_killed_node_is_away_until_it_is_started_again_on_its_port(nodes: Nodes) -> None:
    place = start(nodes, 1)["n1"]
    process = nodes.servers["n1"]._process
    assert process is not None
    [child] = children(process.pid)
    nodes.inject("kill", "n1")
    assert not answers(place)
    wait_until(lambda: not is_alive(child))  # a crash of a machine takes all its processes
    assert nodes.heal("kill", "n1") == ""
    assert answers(place)
    assert nodes.killed == {"n1"}


def test_a_paused_node_takes_connections_and_says_nothing(nodes: Nodes) -> None:
    place = start(nodes, 1)["n1"]
    nodes.inject("pause", "n1")
    assert not answers(place)
    assert nodes.heal("pause", "n1") == ""
    assert answers(place)


def test_unknown_faults_are_refused_before_anything_starts() -> None:
    with pytest.raises(UsageError, match="unknown fault for listener `kil`; did you mean `kill`"):
        Nodes("listener", ("kil",), print)


@needs_root
def test_a_separated_node_is_out_of_reach_of_other_nodes_and_not_of_clients() -> None:
    nodes = Nodes("listener", ("partition",), print)
    try:
        places = start(nodes, 2)
        assert reaches(nodes, "n1", places["n2"])
        nodes.inject("partition", "n1")
        assert not reaches(nodes, "n1", places["n2"])
        assert not reaches(nodes, "n2", places["n1"])
        assert answers(places["n1"], patience=5)
        nodes.heal("partition", "n1")
        assert reaches(nodes, "n1", places["n2"])
    finally:
        nodes.close()


def reaches(nodes: Nodes, name: str, place: tuple[str, int]) -> bool:
    """Whether a node can connect to a place."""
    assert isinstance(nodes._network, Network)
    number = nodes.names.index(name)
    program = f"import socket; socket.create_connection({place!r}, timeout=1)"
    inside = ["nsenter", f"--target={nodes._network.namespaces[number]}", "--net"]
    return (
        subprocess.run([*inside, sys.executable, "-c", program], capture_output=True, check=False).returncode
        == 0
    )


@pytest.mark.parametrize(
    "kinds", [("pause",), pytest.param(("pause", "partition"), marks=needs_root)], ids="-".join
)
def test_nothing_is_left_of_a_run_that_is_killed(kinds: tuple[str, ...]) -> None:
    before = links()
    parent = subprocess.Popen([sys.executable, "-c", PARENT, *kinds], stdout=subprocess.PIPE, text=True)
    try:
        assert parent.stdout is not None
        pids = [int(word) for word in parent.stdout.readline().split()]
        folders = [Path(word) for word in parent.stdout.readline().split()]
        holders = [int(word) for word in parent.stdout.readline().split()]
        every = [*pids, *holders, *(child for pid in pids for child in children(pid))]
        assert all(map(is_alive, every))
        assert all(folder.is_dir() for folder in folders)
        assert ("partition" in kinds) == bool(links() - before)
    finally:
        parent.send_signal(signal.SIGKILL)
        parent.communicate()
    wait_until(lambda: not any(map(is_alive, every)))
    wait_until(lambda: not any(folder.exists() for folder in folders))
    wait_until(lambda: not links() - before)


def links() -> set[str]:
    """The network links of this machine."""
    return {name for _, name in socket.if_nameindex() if name.startswith("iso")}
