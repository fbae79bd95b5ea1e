"""The live page: one file that shows the events of the service, and loads nothing from elsewhere.

The page itself holds no data, so it needs no token; its requests for data do. Ids, keys and values may be
hostile: the script sets them as text and shows pictures as images, in which no script runs, and the policy of
the page allows nothing else.
"""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING

from markupsafe import Markup
from starlette.responses import Response
from starlette.routing import Route

from isoscope import __version__
from isoscope.checkers.clock import AXIOMS
from isoscope.reports import STYLE
from isoscope.reports.template_engine import asset, content_hash, environment

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
    template = environment().from_string(asset("page.html.j2", package=__name__))
    page = template.render(
        policy=Markup(policy()),
        version=__version__,
        style=_style(),
        script=_script(),
        axioms=Markup(json.dumps(AXIOMS)),
    )
    return page.encode()


def policy() -> str:
    """The policy of the page: its own script and style, its own service, pictures."""
    return (
        f"default-src 'none'; style-src {content_hash(_style())}; script-src {content_hash(_script())}; "
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


def _style() -> Markup:
    """The style of the report, and the rules that only this page has."""
    return asset("assets/page.css") + Markup(STYLE) + asset("page.css", package=__name__)


def _script() -> Markup:
    return Markup("\n").join(asset(name, package=__name__) for name in _SCRIPTS)
