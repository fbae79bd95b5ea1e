"""The live page: one file that shows the events of the service, and loads nothing from elsewhere.

The page itself holds no data, so it needs no token; its requests for data do. Ids, keys and values may be
hostile: the script sets them as text and shows pictures as images, in which no script runs, and the policy of
the page allows nothing else.
"""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING

from starlette.responses import Response
from starlette.routing import Route

from isoscope import __version__
from isoscope.checkers.clock import AXIOMS
from isoscope.reports import STYLE

if TYPE_CHECKING:
    from starlette.requests import Request

__all__ = ["ROUTES", "policy", "render"]

#: Each script after the ones that it uses.
_SCRIPTS = (
    "elements.js",
    "stream.js",
    "words.js",
    "charts.js",
    "mechanisms.js",
    "now.js",
    "latest.js",
    "page.js",
)


@cache
def render() -> bytes:
    """The page with its style and script."""
    page = Template(_file("live.dashboard", "page.html")).substitute(
        policy=policy(),
        version=__version__,
        style=_style(),
        script=_script(),
        axioms=json.dumps(AXIOMS),
    )
    return page.encode()


def policy() -> str:
    """The policy of the page: its own script and style, its own service, pictures."""
    return (
        f"default-src 'none'; style-src {_hash(_style())}; script-src {_hash(_script())}; "
        "connect-src 'self'; img-src blob: data:; base-uri 'none'; form-action 'none'"
    )


async def _answer(_request: Request) -> Response:
    headers = {
        # Only a header can forbid other pages to embed this one.
        "Content-Security-Policy": f"{policy()}; frame-ancestors 'none'",
        "Cache-Control": "no-cache",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
    }
    return Response(render(), headers=headers, media_type="text/html")


ROUTES = [Route("/", _answer)]


def _style() -> str:
    """The style of the report, and the rules that only this page has."""
    return _file("reports", "page/page.css") + STYLE + _file("live.dashboard", "page.css")


def _script() -> str:
    return "\n".join(_file("live.dashboard", name) for name in _SCRIPTS)


def _file(room: str, path: str) -> str:
    return files(f"isoscope.{room}").joinpath(path).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"
