"""What several commands share: options, and rows of a page."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import click

from isoscope import formats
from isoscope.history import UNKNOWN, Initial

if TYPE_CHECKING:
    from collections.abc import Callable

    from isoscope.history import Scalar, Unknown

__all__ = ["format_option", "initial_option", "parse_initial", "row"]


def format_option(what: str) -> Callable[..., Any]:
    """`--format`, which overrules what content or name suggest."""
    names = [candidate.name for candidate in formats.FORMATS]
    return click.option("--format", "format_", type=click.Choice(names), help=f"Format of {what}.")


def initial_option() -> Callable[..., Any]:
    """`--initial`, which overrules the initial value that a format stands for."""
    return click.option(
        "--initial",
        metavar="VALUE",
        callback=lambda _ctx, _option, text: None if text is None else parse_initial(text),
        help="Value of every key before its first write: an integer, a text, `nil` or `unknown`.",
    )


def parse_initial(text: str) -> Initial:
    """The initial value that `text` names; quote a text that looks like something else."""
    words: dict[str, Scalar | Unknown] = {"unknown": UNKNOWN, "nil": None, "null": None}
    if text.lower() in words:
        return Initial(value=words[text.lower()])
    try:
        return Initial(value=int(text))
    except ValueError:
        return Initial(value=text[1:-1] if len(text) > 1 and text[0] == text[-1] == '"' else text)


def row(head: str, text: str) -> str:
    """One fact of a page: its name, and the text beside it."""
    return textwrap.fill(
        text,
        100,
        initial_indent=f"{head:<12} ",
        subsequent_indent=" " * 13,
        break_long_words=False,
        break_on_hyphens=False,
    )
