"""The HTTP server of the service: socket, threads and shutdown.

On SIGTERM or SIGINT the service refuses further batches, waits for those in flight, makes every verdict
final, writes a checkpoint and ends. A second signal ends it at once; the journal then stands in for the
checkpoint.
"""

from __future__ import annotations

import errno
import logging
import signal
import socket
from asyncio import CancelledError
from contextlib import ExitStack, contextmanager
from functools import partial
from threading import Event, Thread, current_thread, main_thread
from typing import TYPE_CHECKING, cast

import uvicorn

from isoscope.errors import UsageError
from isoscope.live.http_app import Routes, application
from isoscope.live.http_protocol import BoundedProtocol, Connections
from isoscope.live.settings import State

if TYPE_CHECKING:
    from asyncio import Protocol
    from collections.abc import Callable, Iterator
    from types import FrameType

    from isoscope.live.access import Access
    from isoscope.live.service import Service

__all__ = ["HttpServer", "listen"]

_SIGNALS = (signal.SIGTERM, signal.SIGINT)
#: Seconds between two steps of the service's clock.
_STEP = 0.1
#: Seconds after which the address is told although the journal is not replayed yet.
_SOON = 0.5
#: Seconds that answers in flight have at the end.
_GRACE = 2


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens; port 0 takes a free one. Raises UsageError if there is none."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with ExitStack() as stack:
            found = stack.enter_context(socket.socket(family, kind, protocol))
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            found.bind(address)
            found.listen(1024)
            stack.pop_all()
    except OSError as error:
        hint = "\n\nhint: --port 0 takes a free one" if error.errno == errno.EADDRINUSE else ""
        raise UsageError(f"cannot listen on {host} port {port}: {error.strerror or error}{hint}") from None
    return found


class HttpServer:
    """A service behind a socket; `run` returns at the end, `stop` ends it from another thread."""

    def __init__(self, service: Service, access: Access, listener: socket.socket, *, drain: float) -> None:
        self._service = service
        self._routes = Routes(service, access)
        self._listener = listener
        host, port = listener.getsockname()[:2]
        #: The address of the socket.
        self.url = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
        self._drain = drain
        self._is_over = Event()
        self._error: BaseException | None = None
        of_client, total = access.connections
        self.connections = Connections(of_client=of_client, total=total)
        # uvicorn calls the class only; it never asks for its type.
        protocol = cast(
            "type[Protocol]", partial(BoundedProtocol, connections=self.connections, access=access)
        )
        config = uvicorn.Config(
            application(self._routes, access.token),
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=_GRACE,
            http=protocol,
            ws="none",
        )
        logging.getLogger("uvicorn.error").addFilter(_is_reported)
        self._server = _Server(config, self)

    def run(
        self,
        ready: Callable[[str], None] = lambda _: None,
        *,
        replayed: Callable[[], None] = lambda: None,
        problem: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Serves until `stop`; the service is then drained, not closed.

        `replayed` is called after the replay of the journal, and `ready` with the address when the server
        answers requests and signals: after the replay as well, or earlier if that takes long. `problem` is
        called with each new problem of the service, and with an empty text when it is over.

        Raises UsageError if the journal is damaged or if its replay did not end, and whatever a thread of
        the server raised.
        """
        threads = [
            Thread(target=self._tick, args=(problem,), name="isoscope-clock", daemon=True),
            Thread(target=self._start, args=(ready, replayed), name="isoscope-start", daemon=True),
        ]
        try:
            with self._signals_stop_it():
                for thread in threads:
                    thread.start()
                self._server.run(sockets=[self._listener])
        finally:
            self._is_over.set()
            self._service.stop_replay()
            for thread in threads:
                if thread.ident is not None:
                    thread.join()
            self._routes.close()
            self._listener.close()
        if self._error is not None:
            raise self._error
        if self._service.state is State.REPLAYING:
            raise UsageError("the service ended while it replayed its journal, and has no verdict yet")

    def stop(self) -> None:
        """The first call drains the service and ends; the second call ends at once."""
        if self._routes.is_ending:
            self._service.stop_replay()
            self._server.should_exit = self._server.force_exit = True
            return
        self._routes.is_ending = True
        Thread(target=self._end, name="isoscope-drain", daemon=True).start()

    def _start(self, ready: Callable[[str], None], replayed: Callable[[], None]) -> None:
        """Replays the journal if that is not done yet, and says that the server is there."""
        replay = Thread(target=self._replay, args=(replayed,), name="isoscope-replay", daemon=True)
        replay.start()
        replay.join(_SOON)
        with self._errors_end_it():
            if self._error is None:
                ready(self.url)
        replay.join()

    def _replay(self, replayed: Callable[[], None]) -> None:
        with self._errors_end_it():
            if self._service.state is State.REPLAYING and self._service.replay():
                replayed()

    def _end(self) -> None:
        with self._errors_end_it():
            self._service.drain(self._drain)
        self._routes.close()
        self._server.should_exit = True

    @contextmanager
    def _errors_end_it(self) -> Iterator[None]:
        """An exception in a thread ends the server, and `run` raises it."""
        try:
            yield
        except BaseException as error:
            self._error = self._error or error
            self._routes.is_ending = True
            self._routes.close()
            self._server.should_exit = True

    @contextmanager
    def _signals_stop_it(self) -> Iterator[None]:
        """Handles signals from the start, before uvicorn does; only the main thread gets signals."""
        if current_thread() is not main_thread():
            yield
            return
        before = {number: signal.signal(number, lambda *_: self.stop()) for number in _SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _tick(self, tell: Callable[[str], None]) -> None:
        told = ""
        while not self._is_over.wait(_STEP):
            self._service.tick()
            problem = self._service.problem
            # What follows the colon may change all the time, such as the number of free bytes.
            if (kind := problem.partition(":")[0]) != told:
                told = kind
                tell(problem)


def _is_reported(record: logging.LogRecord) -> bool:
    """Whether a record goes to the log: the connections that the shutdown cancels do not."""
    return not (record.exc_info and record.exc_info[0] is CancelledError)


class _Server(uvicorn.Server):
    """A uvicorn server that drains the service before it ends."""

    def __init__(self, config: uvicorn.Config, owner: HttpServer) -> None:
        super().__init__(config)
        self._owner = owner

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002 - uvicorn's signature
        self._owner.stop()
