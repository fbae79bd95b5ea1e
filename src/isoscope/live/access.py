"""Access control of the service: token, names of this computer, sizes and rates."""

from __future__ import annotations

import hmac
import re
from dataclasses import dataclass
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import JSONResponse

if TYPE_CHECKING:
    from starlette.datastructures import Headers
    from starlette.types import ASGIApp, Receive, Scope, Send

__all__ = ["Access", "AccessControl", "is_loopback"]

#: Open without a token: a supervisor that restarts services has none, and the page holds no data.
_OPEN = ("/", "/healthz", "/readyz")
#: What a browser says of requests by our page, and by the address bar; other clients say nothing.
_OWN_PAGES = ("same-origin", "none")
#: Only this is a host: a parser of addresses would also take a user before it, or a path after it.
_HOST = re.compile(r"(|[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{0,5})?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """Limits: bytes of a batch, bytes of all batches under way, batches a second of one client.

    `head` is the number of bytes of all headers of a request, `head_count` their number, `patience` and
    `head_patience` the seconds for a body and for headers, `connections` those of one client and of all.
    """

    token: str | None = None
    body: int = 16 << 20
    under_way: int = 64 << 20
    per_second: float | None = None
    patience: float = 30.0
    head: int = 64 << 10
    head_count: int = 100
    head_patience: float = 10.0
    connections: tuple[int, int] = (256, 800)


class AccessControl:
    """Admits requests with the token; if there is none, requests to this computer from its own pages."""

    def __init__(self, app: ASGIApp, *, token: str | None) -> None:
        self._app = app
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """As ASGI says."""
        if scope["type"] == "http" and scope["path"] not in _OPEN:
            request = Request(scope)
            problem = self._problem(request)
            if problem:
                status, reason = problem
                headers = {"WWW-Authenticate": "Bearer"} if status == 401 else None
                await JSONResponse({"error": reason}, status, headers)(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _problem(self, request: Request) -> tuple[int, str] | None:
        host = _host(request.headers)
        if host is None:
            return 403, "expected one header `Host: NAME:PORT`, without a user"
        if self._token is not None:
            given = _token(request)
            if not hmac.compare_digest(given.encode(), self._token.encode()):
                return 401, "expected the header `Authorization: Bearer TOKEN`"
        elif not is_loopback(host):
            # A foreign page may point its own host name to this computer.
            return 403, "expected this computer as the host: use 127.0.0.1 or localhost"
        if request.headers.get("sec-fetch-site", "none") not in _OWN_PAGES:
            return 403, "pages of other sites may not use this service"
        origin = request.headers.get("origin")
        if origin is not None and _netloc(origin) != request.headers.get("host"):
            return 403, f"pages of {origin} may not use this service"
        return None


def is_loopback(host: str) -> bool:
    """Whether the host is this computer."""
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def _token(request: Request) -> str:
    """The token of the header; an event stream of a browser can send it only in the address."""
    header = request.headers.get("authorization", "")
    if header.startswith("Bearer "):
        return header.removeprefix("Bearer ")
    return request.query_params.get("token", "") if request.method == "GET" else ""


def _host(headers: Headers) -> str | None:
    """The name in the header `Host`, empty if there is no header; None if it is not a name with a port."""
    given = headers.getlist("host") or [""]
    found = _HOST.fullmatch(given[0])
    return found[1].lower() if found and len(given) == 1 else None


def _netloc(origin: str) -> str | None:
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return None
