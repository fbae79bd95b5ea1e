"""dbcop's JSON since its version 0.2: sessions of transactions of events, alone or in an object as `data`.

`[[{"events":[{"Write":{"variable":0,"version":1}},["r",0,null]],"committed":true}]]`; versions mean what they
mean in dbcop's text, and null is the initial one.
"""

from __future__ import annotations

import re
from functools import partial

from isoscope.formats.format import Format, read_one, write_text
from isoscope.history import Initial

__all__ = ["FORMAT"]

_OBJECT = re.compile(rb'\s*\{\s*"(params|info|start|end|data)"\s*:')
_ARRAY = re.compile(rb'\s*\[\s*(\[\s*\]\s*,\s*)*\[\s*\{\s*"(events|committed)"\s*:')


def _sniff(head: bytes) -> bool:
    return bool(_OBJECT.match(head) or _ARRAY.match(head))


FORMAT = Format(
    name="dbcop-json",
    title="dbcop's JSON",
    suffixes=(".dbcop.json",),
    sniff=_sniff,
    read=partial(read_one, "dbcop-json"),
    write=partial(write_text, "dbcop-json"),
    writer="dbcop-json",
    holds=frozenset(
        {
            "aborted transactions",
            "aborted transactions of several operations",
            "empty transactions",
            "registers",
        },
    ),
    partly=frozenset({"initial values of single keys", "values that are no integers"}),
    initial=Initial(value=0, replaceable=True),
)
