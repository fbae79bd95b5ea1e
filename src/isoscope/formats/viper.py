"""Logs of Viper's clients: one file a session, one committed transaction a line, in JSON or EDN.

`{"value":[["r",1,0,false],["w",1,5,true],["range",1,"nil",[{"id":1,"val":5}],[]]]}`. Deleted rows are
tombstones. Initial values are those of the initial transaction, and unknown without one. Only read.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from isoscope._native import Reader
from isoscope.formats.format import Format, feed, fields
from isoscope.formats.source import Input, uncompressed
from isoscope.history import Initial

if TYPE_CHECKING:
    from isoscope.formats.source import File
    from isoscope.history import History

__all__ = ["FORMAT"]

_JSON = re.compile(rb'(\xef\xbb\xbf)?[\s\[]*\{\s*"')
_EDN = re.compile(rb"[\s,]*(#[\w./-]+\s*)?\{[\s,]*:")
# Marks that no history of Jepsen has: other micro-operations, and flags behind the value.
_OWN_JSON = re.compile(
    rb'"isInitial"\s*:|"opType"\s*:|\[\s*"(range|i|d)"\s*,'
    rb'|\[\s*"[rw]"\s*,[^\[\]{},]*,[^\[\]{},]*,\s*(true|false)\s*\]'
)
_ATOM = rb'[^\s,\[\](){}"]+[\s,]+'
_OWN_EDN = re.compile(
    rb"[\[(]:(range|i|d)[\s,]|[\[(]:[rw][\s,]+" + _ATOM + _ATOM + rb"(true|false)[\s,]*[\])]|:isInitial\s"
)


def _sniff(head: bytes) -> bool:
    if _JSON.match(head):
        return _is_own(head)
    return bool(_EDN.match(head) and _OWN_EDN.search(head))


def _is_own(head: bytes) -> bool:
    """A value and no type, of which Jepsen's events have both; the type may follow where the head ends."""
    first = fields(head)
    if first.any("type"):
        return False
    is_bare = first.is_whole and first.any("value") and not first.any("process", "f", "index", "time")
    return is_bare or _OWN_JSON.search(head) is not None


def _named(source: Input) -> bool:
    """EDN in a directory of nothing but `*.log`, one a session: Jepsen has `.edn`, processes, invocations."""
    if not source.is_directory or not all(uncompressed(f.path).endswith(".log") for f in source.files):
        return False
    head = source.head()
    return _EDN.match(head) is not None and not re.search(rb":process\b|:invoke\b", head)


def _read(source: Input, *, initial: Initial | None = None) -> History:
    logs = Input(source.path, _logs(source))
    reader = Reader("viper" if _JSON.match(logs.head()) else "viper-edn")
    return feed(reader, logs, name="viper", initial=initial)


def _logs(source: Input) -> tuple[File, ...]:
    """The files of a session each: `J*.log` where a directory has them, `Jep*.log` being their EDN twins."""
    names = {file: Path(file.path).name for file in source.files}
    json = tuple(file for file, name in names.items() if re.match(r"J(?!ep).*\.log", name))
    return json or source.files


FORMAT = Format(
    name="viper",
    title="Logs of Viper's clients (JSON lines or EDN)",
    suffixes=(),
    sniff=_sniff,
    named=_named,
    read=_read,
    initial=Initial(),
)
