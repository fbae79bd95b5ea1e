"""The histories of dbcop as of 2019 in YAML: a list of sessions of transactions of events.

`- - {events: [{write: true, variable: 0, value: 1, success: true}], success: true}`, in block or flow
style. Value 0 is the initial value. One file is one history.
"""

from __future__ import annotations

import re
from functools import partial

from isoscope.formats.format import Format, read_one
from isoscope.history import Initial

__all__ = ["FORMAT"]

_START = re.compile(rb"(\s|#[^\n]*\n|---\s|-\s|\[|\]|,|\{)*[\"']?(events|success)[\"']?\s*:")
# The younger JSON of dbcop starts alike; its events are called `Write` and `Read`.
_EVENT = re.compile(rb"\bwrite[\"']?\s*:\s*(true|false)\b", re.IGNORECASE)


def _sniff(head: bytes) -> bool:
    return _START.match(head) is not None and _EVENT.search(head) is not None


FORMAT = Format(
    name="dbcop-yaml",
    title="dbcop histories (YAML)",
    suffixes=(".yaml", ".yml"),
    sniff=_sniff,
    read=partial(read_one, "dbcop-yaml"),
    initial=Initial(value=0, replaceable=True),
)
