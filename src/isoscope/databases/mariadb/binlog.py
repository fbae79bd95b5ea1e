"""The order of versions in the binary log: the changed rows of committed transactions, in commit order."""

from __future__ import annotations

import logging
from secrets import randbelow
from typing import TYPE_CHECKING, Any, TypeAlias

from isoscope.databases.mariadb.connection import errors, failure, library, options

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from isoscope.databases.mariadb.connection import Place

__all__ = ["Position", "read", "versions"]

#: Seconds that the server may pause while it sends its log.
_PATIENCE = 30
#: A file, and a place in it.
Position: TypeAlias = tuple[str, int]


def read(
    place: Place, table: tuple[str, str], span: tuple[Position, Position], initial: Mapping[int, int]
) -> list[tuple[int, int]]:
    """Versions of a table (database, name) that the log holds in `span`; `initial` are rows to leave out.

    Raises `ConnectionLost`, or `DatabaseError` if we may not read it.
    """
    start, end = span
    stream = _stream(place, table, start)
    try:
        return list(versions(_until(stream, end), initial))
    except errors() as error:
        raise failure(error) from error
    finally:
        stream.close()


def versions(events: Iterable[Any], initial: Mapping[int, int]) -> Iterator[tuple[int, int]]:
    """The last value of each key in each transaction; its rows come before the event of its commit."""
    left: dict[int, int] = {}
    for event in events:
        kind = type(event).__name__
        if kind == "XidEvent":
            yield from left.items()
            left = {}
            continue
        for row in event.rows:
            key, value = row["after_values" if kind == "UpdateRowsEvent" else "values"].values()
            if kind == "DeleteRowsEvent" or (kind == "WriteRowsEvent" and initial.get(key) == value):
                left.pop(key, None)
            else:
                left[key] = value


def _stream(place: Place, table: tuple[str, str], start: Position) -> Any:
    """Events of one table, and ends of all transactions."""
    replication = library("pymysqlreplication")
    # The library warns if the log has no column names; the table has two, in a known order.
    logging.getLogger("pymysqlreplication").setLevel(logging.ERROR)
    rows = library("pymysqlreplication.row_event")
    changes = [rows.WriteRowsEvent, rows.UpdateRowsEvent, rows.DeleteRowsEvent]
    return replication.BinLogStreamReader(
        options(place),
        # Two replicas with the same number disconnect each other.
        server_id=2**30 + randbelow(2**31),
        resume_stream=True,
        log_file=start[0],
        log_pos=start[1],
        only_schemas=[table[0]],
        only_tables=[table[1]],
        only_events=[*changes, library("pymysqlreplication.event").XidEvent],
        freeze_schema=True,
        enable_logging=False,
        pymysql_wrapper=_connect,
    )


def _connect(**told: Any) -> Any:
    # The library passes `db`, and the driver warns of it.
    if "db" in told:
        told["database"] = told.pop("db")
    told["read_timeout"] = _PATIENCE
    return library("pymysql").connect(**told)


def _until(stream: Any, end: Position) -> Iterator[Any]:
    """Events up to `end`: other clients may write the log faster than it is read."""
    for event in stream:
        yield event
        # File names end in a number that may get more digits.
        if (len(stream.log_file), stream.log_file, stream.log_pos) >= (len(end[0]), *end):
            return
