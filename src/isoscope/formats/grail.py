"""Dependency graphs of GRAIL: transactions and dependencies as documents of a graph database.

`txnN.json` is `[{"_key":"1","_id":"txn/1"}]`, `depN.json` is `[{"_from":"txn/1","_to":"txn/2",
"from_evt":"w_evt/1,1","to_evt":"r_evt/2,1","type":"wr"}]`; a dep file can stand alone. A history is made that
has these dependencies; its keys and values are numbers of our own. Writes of one key that nothing orders are
an open pair, as unread appends of a list are. Only read.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from isoscope.errors import FormatError
from isoscope.formats.format import Format, fields, read_text
from isoscope.formats.source import Input
from isoscope.history import Initial

if TYPE_CHECKING:
    from isoscope.history import History

__all__ = ["FORMAT"]


def _sniff(head: bytes) -> bool:
    return fields(head).any("_key", "_id", "_from", "_to", "from_evt", "to_evt")


def _read(source: Input, *, initial: Initial | None = None) -> History:
    return read_text("grail", _pair(source), initial=initial)


def _pair(source: Input) -> Input:
    """The two files of one graph, if the names of files tell them from others."""
    named = {
        kind: [file for file in source.files if re.match(rf"{kind}\d*\.json", Path(file.path).name)]
        for kind in ("txn", "dep")
    }
    if any(len(files) > 1 for files in named.values()):
        counts = " and ".join(f"{len(files)} {kind} files" for kind, files in named.items())
        raise FormatError(
            path=source.path,
            expected="one graph: a txn file and a dep file",
            found=counts,
            hint="put each pair into a folder of its own, or name one dep file",
        )
    pair = tuple(file for files in named.values() for file in files)
    return Input(source.path, pair or source.files)


FORMAT = Format(
    name="grail",
    title="Dependency graphs of GRAIL (JSON)",
    suffixes=(),
    sniff=_sniff,
    read=_read,
    initial=Initial(value=0),
)
