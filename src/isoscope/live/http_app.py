"""The HTTP interface of the service: routes, their answers, and the stream of violations.

Listeners never delay batches: batches have threads of their own, and each listener asks the log for its next
events at its own pace.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from math import ceil
from time import monotonic
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from isoscope import __version__
from isoscope.live import dashboard
from isoscope.live.access import AccessControl
from isoscope.live.batches import FORMS, Batch, Refused, heartbeats
from isoscope.live.body_intake import BodyIntake, whole_number
from isoscope.live.metrics import render_metrics
from isoscope.live.rates import RateLimit
from isoscope.live.service import State
from isoscope.reports import dumps, render_json, render_svg

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.types import ASGIApp, Receive, Scope, Send

    from isoscope.live.access import Access
    from isoscope.live.event_log import LoggedEvent
    from isoscope.live.service import Service

__all__ = ["Routes", "application"]

#: Threads that parse batches, wait for the engines, and wait for the disk.
_THREADS = 4
#: Seconds between two looks for violations, and between two status events.
_POLL_SECONDS = 0.1
_STATUS_SECONDS = 1.0
#: Addresses whose requests wait for the end of the replay, and how many seconds.
_HELD = ("/v1/", "/metrics")
_REPLAY_SECONDS = 1.0
#: EventLog in one piece of a stream, and violations in one answer.
_PIECE = 500
_MAX_VIOLATIONS = 10_000
#: Characters of a wrong number that an answer repeats.
_SHOWN = 40


def application(routes: Routes, token: str | None) -> Starlette:
    """The routes behind the access control; an answer that is an error gives the reason in JSON."""
    found = [
        Route("/v1/batches", routes.batches, methods=["POST"]),
        Route("/v1/heartbeat", routes.heartbeat, methods=["POST"]),
        Route("/v1/collectors/{name:path}", routes.collector),
        Route("/v1/flush", routes.flush, methods=["POST"]),
        Route("/v1/status", routes.status),
        Route("/v1/report", routes.report),
        Route("/v1/violations", routes.violations),
        Route("/v1/violations/{number}.svg", routes.picture),
        Route("/v1/events", routes.events),
        Route("/metrics", routes.metrics),
        Route("/healthz", routes.health),
        Route("/readyz", routes.readiness),
        *dashboard.ROUTES,
    ]
    handlers: Any = {HTTPException: _failed, Refused: _refused}
    middleware = [Middleware(AccessControl, token=token), Middleware(ReplayGate, routes=routes)]
    return Starlette(routes=found, middleware=middleware, exception_handlers=handlers)


class ReplayGate:
    """Holds requests back while the journal is replayed, and refuses them if that takes long."""

    def __init__(self, app: ASGIApp, *, routes: Routes) -> None:
        self._app = app
        self._routes = routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """As ASGI says."""
        is_held = scope["type"] == "http" and scope["path"].startswith(_HELD)
        if is_held and not await self._routes.is_replayed():
            answer = await _refused(Request(scope), self._routes.replaying())
            await answer(scope, receive, send)
            return
        await self._app(scope, receive, send)


class Routes:
    """The answer of each address."""

    def __init__(self, service: Service, access: Access) -> None:
        self._service = service
        self._access = access
        self._limit = RateLimit(access.per_second)
        self._bodies = BodyIntake(access)
        self._last_status = (0.0, b"")
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="isoscope-intake")
        self.is_ending = self.is_closing = False

    async def is_replayed(self) -> bool:
        """Waits a little for the end of the replay; whether it came."""
        end = monotonic() + _REPLAY_SECONDS
        while self._service.state is State.REPLAYING and monotonic() < end:
            await asyncio.sleep(_POLL_SECONDS / 2)
        return self._service.state is not State.REPLAYING

    def replaying(self) -> Refused:
        """The answer while the journal is replayed: collectors wait for its end, however long it takes."""
        done = self._service.progress().get("replayed", {"bytes": 1, "total": 1})
        share = f"{done['bytes']:,} of {done['total']:,} bytes"
        return Refused(503, f"the journal is replayed: {share}", wait=_REPLAY_SECONDS, state=State.REPLAYING)

    async def batches(self, request: Request) -> Response:
        """Takes a batch; the answer comes when it is safe."""
        if waits := self._limit.admit(request.client.host if request.client else ""):
            raise Refused(429, f"more than {self._access.per_second:g} batches a second", wait=waits)
        collector, sequence, form = _headers(request)
        body = await self._body(request)
        batch = Batch(collector=collector, sequence=sequence, form=form, body=body)
        try:
            taken = await asyncio.get_running_loop().run_in_executor(self._pool, self._service.take, batch)
        finally:
            self._bodies.release(body)
        return _json(taken.document())

    async def heartbeat(self, request: Request) -> Response:
        """Takes heartbeats: sessions, and the instant that their later operations begin at or after."""
        body = await self._body(request)
        self._bodies.release(body)
        beats = heartbeats(body)
        await asyncio.get_running_loop().run_in_executor(self._pool, self._service.heartbeat, beats)
        return _json({"sessions": len(beats)})

    async def collector(self, request: Request) -> Response:
        """The number of the next batch of a collector."""
        name = request.path_params["name"]
        expected = await run_in_threadpool(self._service.expected, name)
        return _json({"collector": name, "expected": expected})

    async def flush(self, request: Request) -> Response:  # noqa: ARG002 - as routes are called
        """Makes all answers final."""
        await run_in_threadpool(self._service.flush)
        return _json({"violations": self._service.latest_violation})

    async def status(self, request: Request) -> Response:  # noqa: ARG002
        """The progress."""
        return _json(await self._status())

    async def report(self, request: Request) -> Response:  # noqa: ARG002
        """The document of `isoscope check --json` for all transactions so far."""
        report = await run_in_threadpool(self._service.report)
        return Response(render_json(report), media_type="application/json")

    async def violations(self, request: Request) -> Response:
        """Violations after a number, as one array, or as lines if the client accepts them."""
        after, most = _number(request, "after", 0), min(_MAX_VIOLATIONS, _number(request, "limit", 100))
        found = await run_in_threadpool(self._service.violations, after, most)
        lines = [event.line for event in found]
        if "application/x-ndjson" in request.headers.get("accept", ""):
            return Response(b"".join(line + b"\n" for line in lines), media_type="application/x-ndjson")
        return Response(b"[" + b",".join(lines) + b"]", media_type="application/json")

    async def picture(self, request: Request) -> Response:
        """The counterexample of a violation as SVG."""
        given = request.path_params["number"]
        number = whole_number(given)
        if number is None:
            raise Refused(400, f"expected the number of a violation, found {given[:_SHOWN]!r}")
        anomaly = await run_in_threadpool(self._service.anomaly, number)
        if anomaly is None:
            raise HTTPException(404, f"there is no picture of violation {number}: only of recent ones")
        picture = await run_in_threadpool(render_svg, anomaly)
        return Response(picture, media_type="image/svg+xml")

    async def events(self, request: Request) -> Response:
        """Violations as they become final, each once, and the status every second."""
        seen = request.headers.get("last-event-id") or request.query_params.get("after", "0")
        latest = self._service.latest_violation
        number = latest if seen == "latest" else whole_number(seen)
        if number is None:
            raise Refused(400, f"expected the number of an event, found {seen[:_SHOWN]!r}")
        last = min(number, latest)
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return StreamingResponse(self._stream(last), headers=headers, media_type="text/event-stream")

    async def metrics(self, request: Request) -> Response:  # noqa: ARG002
        """For Prometheus."""
        text = render_metrics(await self._status())
        return PlainTextResponse(text, media_type="text/plain; version=0.0.4")

    async def health(self, request: Request) -> Response:  # noqa: ARG002
        """Whether batches are checked or will be; a failed service must be restarted."""
        return _json(self._service.progress(), 500 if self._service.state is State.FAILED else 200)

    async def readiness(self, request: Request) -> Response:  # noqa: ARG002
        """Whether batches are taken."""
        return _json(self._service.progress(), 200 if self._service.is_ready else 503)

    def close(self) -> None:
        """Ends streams and threads."""
        self.is_closing = True
        self._pool.shutdown(wait=False)

    async def _status(self) -> dict[str, Any]:
        return {"isoscope": __version__, **await run_in_threadpool(self._service.status)}

    async def _recent_status(self) -> bytes:
        """The status of the last half second, however many listen."""
        if monotonic() - self._last_status[0] > _STATUS_SECONDS / 2:
            self._last_status = (monotonic(), dumps(await self._status()).encode())
        return self._last_status[1]

    async def _body(self, request: Request) -> bytes:
        """The body, whose bytes are under way until they are released. Raises Refused."""
        if self._service.state is State.DRAINING:
            raise Refused(503, "the service is about to end")
        return await self._bodies.read(request)

    async def _stream(self, last: int) -> AsyncIterator[bytes]:
        due = 0.0
        # The stream goes on until the events of the final flush are sent.
        while not self.is_closing or self._service.latest_violation > last:
            if self._service.latest_violation > last:
                found = await run_in_threadpool(self._service.violations, last, _PIECE)
                last = found[-1].number
                yield b"".join(map(_server_sent, found))
            else:
                await asyncio.sleep(_POLL_SECONDS)
            if monotonic() >= due:
                due = monotonic() + _STATUS_SECONDS
                yield b"event: status\ndata: %s\n\n" % await self._recent_status()


def _server_sent(event: LoggedEvent) -> bytes:
    return b"event: %s\nid: %d\ndata: %s\n\n" % (event.kind.encode(), event.number, event.line)


def _headers(request: Request) -> tuple[str, int, int]:
    """Collector, number of the batch and form. Raises Refused if one is missing or wrong."""
    name = request.headers.get("x-isoscope-collector", "")
    if not 0 < len(name) <= 200 or not name.isprintable():
        raise Refused(400, "expected the header `X-Isoscope-Collector: NAME` of at most 200 letters")
    number = request.headers.get("x-isoscope-sequence", "")
    sequence = whole_number(number)
    if not sequence:
        expected = "expected the header `X-Isoscope-Sequence: N` with N = 1, 2, ..."
        raise Refused(400, f"{expected}, found {number[:_SHOWN]!r}")
    form = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if form not in FORMS:
        raise Refused(415, f"expected the content type {' or '.join(FORMS)}, found {form!r}")
    if (coding := request.headers.get("content-encoding", "identity")) != "identity":
        raise Refused(415, f"expected no content encoding, found {coding!r}")
    return name, sequence, FORMS.index(form)


def _number(request: Request, name: str, default: int) -> int:
    text = request.query_params.get(name, str(default))
    number = whole_number(text)
    if number is None:
        raise Refused(400, f"expected a number as `{name}`, found {text[:_SHOWN]!r}")
    return number


def _json(data: object, status: int = 200) -> Response:
    return Response(dumps(data), status, media_type="application/json")


async def _refused(_request: Request, refused: Refused) -> Response:
    answer = _json(refused.document(), refused.status)
    if refused.wait:
        answer.headers["Retry-After"] = str(ceil(refused.wait))
    return answer


async def _failed(_request: Request, error: HTTPException) -> Response:
    return JSONResponse({"error": error.detail}, error.status_code, error.headers)
