"""Links between nodes where network namespaces cannot be had: a relay in front of each node.

Other nodes connect to the relay, which passes their bytes on; so it can hold them back, or delay them. The
relay looks up which process has the other end of a new connection, and so knows both nodes of a link.

The relays of a node have an address of their own (all of 127.0.0.0/8 is this machine), and the ports of the
node. What a node sends to another one comes from the address of the sender's relays: nodes that learn from a
connection where the other one is, as those of Galera do, learn the address of its relays.
Everything is in a thread of this process, and ends with it.
"""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress
from random import randrange
from threading import Thread
from typing import TYPE_CHECKING, TypeAlias

from isoscope.databases.links import DELAY
from isoscope.databases.process_family import connected_socket, has_socket
from isoscope.errors import DatabaseError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["Relays", "refuse_relays"]

#: Bytes of one piece, pieces that wait in one direction of a connection.
_PIECE, _PIECES = 1 << 16, 1024
#: Seconds between two looks whether a link is there again.
_GLANCE = 0.02
#: Seconds in which the thread ends.
_PATIENCE = 5.0

#: The two nodes of a connection; a process that is no node has the number -1.
_Link: TypeAlias = frozenset[int]
_Pieces: TypeAlias = asyncio.Queue[tuple[float, bytes]]


def refuse_relays(kind: str) -> None:
    """Raises `UsageError` where relays cannot tell nodes apart."""
    if not sys.platform.startswith("linux"):
        raise UsageError(
            f"the fault `{kind}` needs Linux\n\nhint: leave it out: kill, pause and cut need none"
        )


class Relays:
    """Relays in front of nodes; `processes` are the numbers of the processes of each node now."""

    def __init__(self, processes: Sequence[Callable[[], Sequence[int]]]) -> None:
        self._processes = processes
        #: Apart from 127.0.0.1 and from the addresses that nodes themselves may have.
        self._subnet = f"127.{randrange(128, 255)}.{randrange(1, 255)}"
        self._isolated: set[int] = set()
        self._slow: set[int] = set()
        self._servers: list[asyncio.Server] = []
        #: The loop itself would let go of a connection whose ends both wait.
        self._connections: set[asyncio.Task[None] | None] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, name="isoscope-relays", daemon=True)
        self._thread.start()

    def add(self, number: int, place: tuple[str, int]) -> tuple[str, int]:
        """A relay in front of a place where a node listens; returns where other nodes reach it.

        Raises `DatabaseError` if it cannot listen there.
        """
        listening = asyncio.run_coroutine_threadsafe(self._listen(number, place), self._loop)
        try:
            return listening.result(_PATIENCE)
        except OSError as error:
            raise DatabaseError(f"no relay can listen in front of a node: {error.strerror}") from None

    def isolate(self, number: int) -> None:
        """Holds back all that a node and the others send each other, as a network that loses it."""
        self._isolated.add(number)

    def rejoin(self, number: int) -> None:
        """Ends `isolate`; what was held back arrives, as TCP sends again what was lost."""
        self._isolated.discard(number)

    def slow_down(self, number: int) -> None:
        """Delays all that a node and the others send each other."""
        self._slow.add(number)

    def speed_up(self, number: int) -> None:
        """Ends `slow_down`."""
        self._slow.discard(number)

    def close(self) -> None:
        """Closes all connections and ends the thread; never fails."""
        if self._loop.is_closed():
            return
        with suppress(TimeoutError):
            asyncio.run_coroutine_threadsafe(self._end(), self._loop).result(_PATIENCE)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_PATIENCE)
        if not self._thread.is_alive():
            self._loop.close()

    async def _end(self) -> None:
        for server in self._servers:
            server.close()
        # A connection that was just accepted becomes a task later.
        await asyncio.sleep(_GLANCE)
        while tasks := asyncio.all_tasks() - {asyncio.current_task()}:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _listen(self, number: int, place: tuple[str, int]) -> tuple[str, int]:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            self._connections.add(task)
            try:
                await self._relay(number, place, (reader, writer))
            except OSError:
                pass  # the other end learns of it by the end of its connection
            finally:
                writer.close()
                self._connections.discard(task)

        host, port = self._host(number), place[1]
        self._servers.append(await asyncio.start_server(serve, host, port))
        return host, port

    def _host(self, number: int) -> str:
        return f"{self._subnet}.{number + 1}"

    async def _relay(
        self,
        number: int,
        place: tuple[str, int],
        client: tuple[asyncio.StreamReader, asyncio.StreamWriter],
    ) -> None:
        """Passes on what both ends of a connection say, until both have ended or one is lost."""
        (_, port), (_, to) = (client[1].get_extra_info(end)[:2] for end in ("peername", "sockname"))
        sender = self._node(port, to)
        link = frozenset((number, sender))
        await self._passage(link)
        source = None if sender < 0 else (self._host(sender), 0)
        reader, writer = await asyncio.open_connection(*place, local_addr=source)
        try:
            async with asyncio.TaskGroup() as both:
                both.create_task(self._pass(link, client[0], writer))
                both.create_task(self._pass(link, reader, client[1]))
        except* OSError:
            pass
        finally:
            writer.close()

    def _node(self, port: int, to: int) -> int:
        """The node that has the other end of a new connection."""
        socket = connected_socket(port, to)
        for number, processes in enumerate(self._processes):
            if any(has_socket(pid, socket) for pid in processes()):
                return number
        return -1

    async def _pass(self, link: _Link, source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        """Passes on one direction; pieces wait side by side, so that a delay does not lower the rate."""
        pieces: _Pieces = asyncio.Queue(_PIECES)
        async with asyncio.TaskGroup() as both:
            both.create_task(self._send(link, pieces, target))
            is_open = True
            while is_open:
                piece = await source.read(_PIECE)
                is_open = bool(piece)
                delay = DELAY if _touches(link, self._slow) else 0.0
                await pieces.put((self._loop.time() + delay, piece))

    async def _send(self, link: _Link, pieces: _Pieces, target: asyncio.StreamWriter) -> None:
        while True:
            due, piece = await pieces.get()
            await asyncio.sleep(max(0.0, due - self._loop.time()))
            await self._passage(link)
            if not piece:
                target.write_eof()
                return
            target.write(piece)
            await target.drain()

    async def _passage(self, link: _Link) -> None:
        """Waits until the link is there."""
        while _touches(link, self._isolated):
            await asyncio.sleep(_GLANCE)


def _touches(link: _Link, nodes: set[int]) -> bool:
    """Whether a link begins or ends at one of the nodes; that of a node with itself is none."""
    return len(link) > 1 and not link.isdisjoint(nodes)
