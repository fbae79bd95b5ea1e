"""The template engine. A template escapes every text that Python hands over, unless it is `Markup`.

Names, keys and values come from histories of unknown origin. Besides being escaped they are made printable,
so that a control character cannot change the direction of the text that follows.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from isoscope.reports.plain_text import printable

__all__ = ["asset", "content_hash", "environment", "render_template"]


@cache
def environment() -> Environment:
    """The engine with the templates of `reports/templates`."""
    made = Environment(
        loader=PackageLoader("isoscope.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_printable,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters["thousands"] = "{:,}".format
    return made


def _printable(value: Any) -> Any:
    """Applied to every value before it is escaped; `Markup` is no plain text."""
    if not isinstance(value, str) or value.isprintable() or hasattr(value, "__html__"):
        return value
    return printable(value)


def render_template(name: str, **values: Any) -> Markup:
    """The text of a template with these values."""
    return Markup(environment().get_template(name).render(values))


def asset(path: str, *, package: str = "isoscope.reports") -> Markup:
    """A style sheet or script that is shipped with the package."""
    return Markup(files(package).joinpath(path).read_text(encoding="utf-8"))


def content_hash(text: str) -> str:
    """The source that allows exactly this style or script in a Content-Security-Policy."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"
