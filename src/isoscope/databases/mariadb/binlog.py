"""The order of versions in the binary log: each changed row of what was committed, by commits."""

from __future__ import annotations

import logging
from secrets import randbelow
from typing import TYPE_CHECKING, Any, TypeAlias

from isoscope.databases.mariadb.connection import errors, failure, library, options

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from isoscope.databases.mariadb.connection import Place

__all__ = ["Position", "read", "versions"]

#: Seconds in which a server must go on sending its log.
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
    """What each transaction left of the keys that it wrote; its rows come before the event of its commit."""
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
    # It warns if the log has no names of columns; ours are two, in the order of the table.
    logging.getLogger("pymysqlreplication").setLevel(logging.ERROR)
    rows = library("pymysqlreplication.row_event")
    changes = [rows.WriteRowsEvent, rows.UpdateRowsEvent, rows.DeleteRowsEvent]
    return replication.BinLogStreamReader(
        options(place),
        # Two replicas with the same number would push each other out.
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
    # The library says `db`, of which the driver warns.
    if "db" in told:
        told["database"] = told.pop("db")
    told["read_timeout"] = _PATIENCE
    return library("pymysql").connect(**told)


def _until(stream: Any, end: Position) -> Iterator[Any]:
    """Events up to `end`: others may write the log faster than we read it."""
    for event in stream:
        yield event
        # Names of files end in a number, which may grow by a digit.
        if (len(stream.log_file), stream.log_file, stream.log_pos) >= (len(end[0]), *end):
            return
