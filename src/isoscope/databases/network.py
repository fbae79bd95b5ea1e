"""A network for the nodes of one run, which can be cut off from each other: network namespaces of Linux.

Each node has a namespace with one address; a bridge in a namespace of its own joins them, and this machine
reaches it through one link. A namespace lives as long as a process in it: each is held by a program that ends
when this process ends, however that happens, and the kernel then removes the links. Nothing has a name that
could be left behind.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path
from random import SystemRandom
from secrets import token_hex
from socket import inet_aton
from time import monotonic, sleep

from isoscope.databases.slow_links import SlowLinks, can_delay
from isoscope.errors import DatabaseError

__all__ = ["Network", "can_make_network"]

#: Programs of Linux that make and enter namespaces.
_PROGRAMS = ("ip", "nsenter", "setpriv", "unshare")
#: A hardware address that no link has: packets to it are lost without a word.
_NOWHERE = "02:00:00:00:00:01"
#: That of the device that delays packets, and those of nodes.
_SLOW, _NODE = "02:00:00:00:00:02", "02:00:00:00:01:{:02x}"
#: Seconds that a new process may take to have its namespace.
_PATIENCE = 10.0


def can_make_network(kind: str) -> bool:
    """Whether this machine and this user can make network namespaces, with what a kind of fault needs."""
    has_programs = all(shutil.which(program) for program in _PROGRAMS)
    is_root = Path("/proc/self/ns/net").exists() and os.geteuid() == 0
    return has_programs and is_root and (kind != "slow" or can_delay())


class Network:
    """Namespaces for `count` nodes, which are numbered from 0; `close` removes everything."""

    def __init__(self, count: int) -> None:
        self._holders: list[subprocess.Popen[bytes]] = []
        self._slow: SlowLinks | None = None
        try:
            subnet = _free_subnet()
            self.addresses = tuple(f"{subnet}.{number}" for number in range(1, count + 1))
            bridge, *nodes = [self._hold() for _ in range(count + 1)]
            self.namespaces = tuple(nodes)
            self._bridge = bridge
            self._join(bridge, subnet)
        except BaseException:
            self.close()
            raise

    def isolate(self, number: int) -> None:
        """Loses all packets between a node and the others, in both directions; clients still reach all."""
        self._each_pair(number, f"neigh replace {{}} lladdr {_NOWHERE} dev eth0 nud permanent")

    def rejoin(self, number: int) -> None:
        """Ends `isolate`."""
        self._each_pair(number, "neigh del {} dev eth0")

    def slow_down(self, number: int) -> None:
        """Delays all packets between a node and the others, in both directions."""
        if self._slow is None:
            self._slow = self._delayer()
        self._each_pair(number, f"neigh replace {{}} lladdr {_SLOW} dev eth0 nud permanent")

    def speed_up(self, number: int) -> None:
        """Ends `slow_down`."""
        self.rejoin(number)

    def _delayer(self) -> SlowLinks:
        name = f"iso{token_hex(4)}"
        nodes = {
            inet_aton(address): _bytes(_NODE.format(number)) for number, address in enumerate(self.addresses)
        }
        slow = SlowLinks(name, _bytes(_SLOW), nodes)
        try:
            _ip(None, [f"link set {name} netns {self._bridge}"])
            _ip(self._bridge, [f"link set {name} master hub0", f"link set {name} up"])
        except BaseException:
            slow.close()
            raise
        slow.start()
        return slow

    def close(self) -> None:
        """Ends the processes that hold the namespaces; never fails."""
        if self._slow is not None:
            self._slow.close()
            self._slow = None
        for holder in self._holders:
            with suppress(OSError, subprocess.TimeoutExpired):
                assert holder.stdin is not None
                holder.stdin.close()
                holder.wait(_PATIENCE)
        self._holders.clear()

    def _each_pair(self, number: int, command: str) -> None:
        for other in range(len(self.addresses)):
            if other != number:
                _ip(self.namespaces[number], [command.format(self.addresses[other])])
                _ip(self.namespaces[other], [command.format(self.addresses[number])])

    def _hold(self) -> int:
        """A new namespace: that of a process which ends when its input does."""
        holder = subprocess.Popen(
            ["unshare", "--net", "cat"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._holders.append(holder)
        end = monotonic() + _PATIENCE
        own, its = Path("/proc/self/ns/net").readlink(), Path(f"/proc/{holder.pid}/ns/net")
        while monotonic() < end and holder.poll() is None:
            with suppress(OSError):
                if its.readlink() != own:
                    return holder.pid
            sleep(0.005)
        raise DatabaseError("no network namespace can be made here\n\nhint: leave the fault `partition` out")

    def _join(self, bridge: int, subnet: str) -> None:
        link = f"iso{token_hex(4)}"
        _ip(None, [f"link add {link} type veth peer name root0 netns {bridge}"])
        _ip(None, [f"addr add {subnet}.254/24 dev {link}", f"link set {link} up"])
        _ip(
            bridge,
            [
                "link add hub0 type bridge",
                "link set hub0 up",
                "link set root0 master hub0",
                "link set root0 up",
            ],
        )
        for number, node in enumerate(self.namespaces):
            port = f"p{number}"
            _ip(bridge, [f"link add {port} type veth peer name eth0 netns {node}"])
            _ip(bridge, [f"link set {port} master hub0", f"link set {port} up"])
            _ip(
                node,
                [
                    "link set lo up",
                    f"link set eth0 address {_NODE.format(number)}",
                    f"addr add {self.addresses[number]}/24 dev eth0",
                    "link set eth0 up",
                ],
            )


def _ip(namespace: int | None, commands: list[str]) -> None:
    """Runs commands of `ip` in the namespace of a process, or here."""
    inside = [] if namespace is None else ["nsenter", f"--target={namespace}", "--net"]
    told = "\n".join(commands) + "\n"
    done = subprocess.run(
        [*inside, "ip", "-batch", "-"], input=told, capture_output=True, text=True, check=False
    )
    if done.returncode:
        why = (done.stderr or done.stdout).strip().partition("\n")[0]
        raise DatabaseError(f"the network of the nodes cannot be made: {why}")


def _bytes(hardware: str) -> bytes:
    return bytes.fromhex(hardware.replace(":", ""))


def _free_subnet() -> str:
    """The first three numbers of addresses that are reserved for tests of networks (RFC 2544)."""
    used = subprocess.run(["ip", "-o", "addr"], capture_output=True, text=True, check=False).stdout
    candidates = [f"198.{second}.{third}" for second in (18, 19) for third in range(256)]
    SystemRandom().shuffle(candidates)
    return next(subnet for subnet in candidates if f" {subnet}." not in used)
