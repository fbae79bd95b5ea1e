"""The history of a recorded program: JSON, one object a line; `isoscope record` writes it.

The first line is the head. A statement comes before its first use, a transaction before its operations, and
`versions` and `initial` come last. `docs/reference/formats/program.md` documents the fields.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from isoscope._native import UNKNOWN, Builder, ParseError, Term
from isoscope.errors import FormatError
from isoscope.formats.format import FEATURES, Format, fields
from isoscope.history import (
    History,
    Interval,
    Operation,
    OperationKind,
    ProgramStatement,
    Range,
    Source,
    Status,
    Transaction,
    VersionSource,
)

if TYPE_CHECKING:
    from isoscope.formats.source import Input
    from isoscope.history import Initial, Scalar

__all__ = ["FORMAT"]

_KINDS = {"read": OperationKind.READ, "write": OperationKind.WRITE}
#: Names of rows that need no quotes.
_PLAIN = re.compile(r"[A-Za-z_][\w./@+-]*", re.ASCII)
_HINT = "record the program again with this version of Isoscope, or name the right --format"


def _sniff(head: bytes) -> bool:
    found = fields(head)
    return found.any("isoscope") and found.any("uncovered")


def _read(source: Input, *, initial: Initial | None = None) -> History:
    [file] = source.only("program").files
    reader = _Reader(source.path)
    for number, line in enumerate(file.read().splitlines(), start=1):
        try:
            reader.add(number, json.loads(line))
        except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError, RecursionError):
            raise _bad_line(source.path, number, line) from None
    return reader.finish(initial)


def _bad_line(path: str, number: int, line: bytes) -> FormatError:
    return FormatError(
        path=path,
        line=number,
        expected="a line of a recorded program, such as {'transaction': 1, ...}",
        found=ascii(line[:60].decode("utf-8", "replace")),
        hint=_HINT,
    )


def _key(text: str) -> Scalar:
    """The name of a row: a term if it can be one, so that reports show it without quotes."""
    return Term(text) if _PLAIN.fullmatch(text) else text


def _made(row: dict[str, Any], interval: Interval | None, line: int) -> Operation:
    if "uncovered" in row or "not-shown" in row:
        key = _key(row["not-shown"]) if "not-shown" in row else None
        bounds = Range() if key is None else Range(low=key, high=key)
        text = row["uncovered"] if key is None else _predicate(row["values"])
        kind = OperationKind.RANGE_READ
        return Operation(kind=kind, value=bounds, predicate=text, interval=interval, line=line)
    [name] = _KINDS.keys() & row.keys()
    key = _key(row[name])
    return Operation(kind=_KINDS[name], key=key, value=row["value"], interval=interval, line=line)


def _predicate(values: list[Any]) -> str:
    """The values that the read would have shown or cannot have met: it saw another one."""
    return f"[:in {' '.join(json.dumps(one, ensure_ascii=False) for one in values)}]"


class _Reader:
    """Collects the lines; a transaction is complete when the next one begins."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._builder = Builder()
        self._texts: dict[int, str] = {}
        self._statements: dict[int, ProgramStatement] = {}
        self._notes: list[tuple[str, int]] = []
        self._open: tuple[int, dict[str, Any]] | None = None
        self._operations: list[Operation] = []
        self._initial: dict[Scalar, Any] = {}
        self._versions: list[tuple[Scalar, Any]] = []

    def add(self, number: int, row: dict[str, Any]) -> None:
        if "isoscope" in row:
            self._head(row)
        elif "transaction" in row:
            self._end()
            self._open = number, row
        elif "sql" in row:
            self._texts[row["statement"]] = row["sql"]
        elif "versions" in row:
            self._versions += [(_key(row["versions"]), value) for value in row["order"]]
        elif "initial" in row:
            self._initial[_key(row["initial"])] = row["value"]
        else:
            self._operation(number, row)

    def _head(self, row: dict[str, Any]) -> None:
        self._builder.initial(UNKNOWN if row["initial"] == "unknown" else row["initial"], replaceable=False)
        self._notes = [
            (f"not covered, {one['reason']}: {one['sql']}", one["count"]) for one in row["uncovered"]
        ]

    def _operation(self, number: int, row: dict[str, Any]) -> None:
        if "at" in row:
            path, line = row["at"]
            parameters = "" if not row["parameters"] else json.dumps(row["parameters"], ensure_ascii=False)
            place = f"{path}:{line}" if path else f"{self._path}:{number}"
            self._statements[number] = ProgramStatement(self._texts[row["statement"]], parameters, place)
        interval = Interval(*row["interval"]) if "interval" in row else None
        self._operations.append(_made(row, interval, number))

    def _end(self) -> None:
        if self._open is None:
            return
        number, row = self._open
        interval = Interval(*row["interval"]) if "interval" in row else None
        self._builder.add(
            Transaction(
                number=0,
                id=row["transaction"],
                session=0,
                session_id=row["session"],
                status=Status(row["status"]),
                operations=tuple(self._operations),
                interval=interval,
                line=number,
            )
        )
        self._operations = []

    def finish(self, initial: Initial | None) -> History:
        self._end()
        for key, value in self._versions:
            self._builder.version(VersionSource.DECLARED, key, value)
        if initial is not None:
            self._builder.initial(initial.value, replaceable=initial.replaceable)
        for key, value in (self._initial if initial is None else initial.of_key).items():
            self._builder.initial_of(key, value)
        source = Source(
            path=self._path, format="program", notes=tuple(self._notes), statements=self._statements
        )
        try:
            return History(self._builder.finish(), source)
        except ParseError as error:
            _, _, expected, found, *_ = error.args
            raise FormatError(path=self._path, expected=expected, found=found, hint=_HINT) from None


FORMAT = Format(
    name="program",
    title="A recorded program",
    suffixes=(".program",),
    sniff=_sniff,
    read=_read,
    slices=None,
    write=None,
    holds=frozenset(FEATURES),
)
