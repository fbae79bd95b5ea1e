"""dbcop's text: `[x:=1 y==2]` is a transaction, a line of `-` ends a session, `!` says aborted.

Versions are integers from 0; 0 is the initial one, unless it is written. `x==?` is a read of the initial
version whatever is written.
"""

from __future__ import annotations

import re
from functools import partial

from isoscope.formats.format import Format, read_one, write_text
from isoscope.history import Initial

__all__ = ["FORMAT"]

_HEAD = re.compile(rb"(\s+|//[^\n]*\n|-+[ \t\r]*\n)*+\[[ \t]*[^\s:=\[\]{}()\"]+(:=|==)[\d?]")


def _sniff(head: bytes) -> bool:
    return _HEAD.match(head) is not None


FORMAT = Format(
    name="dbcop-hist",
    title="dbcop's text",
    suffixes=(".hist",),
    sniff=_sniff,
    read=partial(read_one, "dbcop-hist"),
    write=partial(write_text, "dbcop-hist"),
    writer="dbcop-hist",
    holds=frozenset(
        {"aborted transactions", "aborted transactions of several operations", "registers"},
    ),
    partly=frozenset(
        {"initial values of single keys", "keys that are no integers", "values that are no integers"},
    ),
    initial=Initial(value=0, replaceable=True),
)
