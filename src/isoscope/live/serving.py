"""The service at work: a socket, the threads, and an orderly end.

On SIGTERM or SIGINT it takes no more batches, waits for those under way, makes every verdict final, leaves a
checkpoint and ends. A second signal ends it at once; the journal then has what a checkpoint would have had.
"""

from __future__ import annotations

import logging
import signal
import socket
from asyncio import CancelledError
from contextlib import ExitStack, contextmanager
from threading import Event, Thread, current_thread, main_thread
from typing import TYPE_CHECKING

import uvicorn

from isoscope.errors import UsageError
from isoscope.live.server import Routes, application

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

    from isoscope.live.access import Access
    from isoscope.live.service import Service

__all__ = ["Serving", "listen"]

_SIGNALS = (signal.SIGTERM, signal.SIGINT)
#: Seconds between two steps of the service's clock.
_STEP = 0.1
#: Seconds for which answers under way are waited for at the end.
_GRACE = 2
#: More connections than these are turned away.
_CONNECTIONS = 1000


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
        raise UsageError(f"cannot listen on {host} port {port}: {error.strerror or error}") from None
    return found


class Serving:
    """A service behind a socket; `run` returns when it has ended, `stop` ends it from another thread."""

    def __init__(self, service: Service, access: Access, listener: socket.socket, *, drain: float) -> None:
        self._service = service
        self._routes = Routes(service, access)
        self._listener = listener
        self._drain = drain
        self._is_over = Event()
        config = uvicorn.Config(
            application(self._routes, access.token),
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=_GRACE,
            limit_concurrency=_CONNECTIONS,
        )
        logging.getLogger("uvicorn.error").addFilter(_is_news)
        self._server = _Server(config, self)

    @property
    def url(self) -> str:
        """Where it listens."""
        host, port = self._listener.getsockname()[:2]
        return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

    def run(self, ready: Callable[[str], None] | None = None) -> None:
        """Serves until it is told to stop; the service is drained then, and not closed.

        `ready` hears the address when signals and requests are heeded.
        """
        clock = Thread(target=self._tick, name="isoscope-clock", daemon=True)
        clock.start()
        try:
            with self._heeding_signals():
                if ready is not None:
                    ready(self.url)
                self._server.run(sockets=[self._listener])
        finally:
            self._is_over.set()
            clock.join()
            self._routes.close()
            self._listener.close()

    def stop(self) -> None:
        """Begins the end, and makes haste if it has begun."""
        if self._routes.is_ending:
            self._server.should_exit = self._server.force_exit = True
            return
        self._routes.is_ending = True
        Thread(target=self._end, name="isoscope-drain", daemon=True).start()

    def _end(self) -> None:
        try:
            self._service.drain(self._drain)
        finally:
            self._routes.close()
            self._server.should_exit = True

    @contextmanager
    def _heeding_signals(self) -> Iterator[None]:
        """From the first moment, not only when uvicorn listens; other threads than the main one get none."""
        if current_thread() is not main_thread():
            yield
            return
        before = {number: signal.signal(number, lambda *_: self.stop()) for number in _SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _tick(self) -> None:
        while not self._is_over.wait(_STEP):
            self._service.tick()


def _is_news(record: logging.LogRecord) -> bool:
    """Whether somebody should read it: that listeners who do not read are cut off at the end is meant."""
    return not (record.exc_info and record.exc_info[0] is CancelledError)


class _Server(uvicorn.Server):
    """uvicorn that drains first."""

    def __init__(self, config: uvicorn.Config, serving: Serving) -> None:
        super().__init__(config)
        self._serving = serving

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002 - uvicorn's signature
        self._serving.stop()
