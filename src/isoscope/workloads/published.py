"""Known results of databases on the scripts of Hermitage: its table, and our own expectations.

The table is that of https://github.com/ept/hermitage (its README in October 2024, CC BY 4.0), made with
PostgreSQL 9.3.5 and MySQL 5.6.21. It has neither SQLite nor DuckDB nor MariaDB's snapshot isolation, nor
others below: for those, the table here has the theory of the level that they promise.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from isoscope.levels import Level, implied
from isoscope.workloads.hermitage import ANOMALIES, SCRIPTS, Answer

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["EXPECTATIONS", "Cell", "Expectation", "cells", "expectation"]


class Cell(StrEnum):
    """Whether an isolation prevents an anomaly; R/O: only for transactions that do nothing but read."""

    PREVENTED = "yes"
    READ_ONLY = "R/O"
    ALLOWED = "no"


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """A row of a table and its source; `kind` is `published`, or `theory` if it is ours."""

    kind: str
    source: str
    cells: Mapping[str, Cell]


def expectation(database: str, isolation: str, promises: Iterable[Level] = ()) -> Expectation | None:
    """The expectation for an isolation of the database called `database`, if there is one.

    `promises` are those of the database as it is set: MariaDB's repeatable read can be snapshot isolation.
    """
    is_snapshot = any(Level.SNAPSHOT_ISOLATION in implied(level) for level in promises)
    snapshot = EXPECTATIONS.get((database, f"{isolation}, snapshot")) if is_snapshot else None
    return snapshot or EXPECTATIONS.get((database, isolation))


def cells(answers: Mapping[str, Answer]) -> dict[str, Cell]:
    """A row of the table, from the answers of scripts by name; anomalies without an answer are left out."""
    return {anomaly: _cell(asked) for anomaly in ANOMALIES if (asked := _asked(anomaly, answers))}


def _asked(anomaly: str, answers: Mapping[str, Answer]) -> dict[bool, list[Answer]]:
    """The answers to the scripts of an anomaly, by whether those only read."""
    found: dict[bool, list[Answer]] = {}
    for script in SCRIPTS:
        if script.anomaly == anomaly and script.name in answers:
            found.setdefault(script.is_read_only, []).append(answers[script.name])
    return found


def _cell(answers: Mapping[bool, list[Answer]]) -> Cell:
    if Answer.ALLOWED in answers.get(True, []):
        return Cell.ALLOWED
    if Answer.ALLOWED not in answers.get(False, []):
        return Cell.PREVENTED
    return Cell.READ_ONLY if True in answers else Cell.ALLOWED


def _row(kind: str, source: str, cells: str) -> Expectation:
    by_anomaly = dict(zip(ANOMALIES, map(Cell, cells.split()), strict=True))
    return Expectation(kind=kind, source=source, cells=by_anomaly)


def _published(version: str, cells: str) -> Expectation:
    return _row("published", f"Hermitage, with {version}", cells)


def _theory(level: str, cells: str) -> Expectation:
    return _row("theory", level, cells)


_POSTGRESQL, _MYSQL = "PostgreSQL 9.3.5", "MySQL 5.6.21"
_READ_COMMITTED = "yes yes yes yes yes no no no no no"
_SNAPSHOTS = "yes yes yes yes yes yes yes yes no no"
_ALL = "yes yes yes yes yes yes yes yes yes yes"
#: By database and isolation. Anomalies from left to right: G0 G1a G1b G1c OTV PMP P4 G-single G2-item G2.
EXPECTATIONS: Mapping[tuple[str, str], Expectation] = {
    ("postgresql", "read-committed"): _published(_POSTGRESQL, _READ_COMMITTED),
    ("postgresql", "repeatable-read"): _published(_POSTGRESQL, _SNAPSHOTS),
    ("postgresql", "serializable"): _published(_POSTGRESQL, _ALL),
    ("mariadb", "read-uncommitted"): _published(_MYSQL, "yes no no no no no no no no no"),
    ("mariadb", "read-committed"): _published(_MYSQL, _READ_COMMITTED),
    ("mariadb", "repeatable-read"): _published(_MYSQL, "yes yes yes yes yes R/O no R/O no no"),
    ("mariadb", "serializable"): _published(_MYSQL, _ALL),
    ("mariadb", "repeatable-read, snapshot"): _theory("snapshot isolation", _SNAPSHOTS),
    # DuckDB 2.0 falls short of it: an update and a delete of one row are no conflict there (its issue 17223).
    ("duckdb", "snapshot-isolation"): _theory("snapshot isolation", _SNAPSHOTS),
    ("sqlite", "serializable"): _theory("serializability", _ALL),
    # A shared cache has one writer at a time, and reads see its uncommitted writes.
    ("sqlite", "read-uncommitted"): _theory(
        "one writer at a time, dirty reads", "yes no no yes no no no no no no"
    ),
    ("h2", "read-committed"): _theory("read committed", _READ_COMMITTED),
    ("h2", "repeatable-read"): _theory("snapshot isolation", _SNAPSHOTS),
    ("h2", "snapshot"): _theory("snapshot isolation", _SNAPSHOTS),
    ("h2", "serializable"): _theory("snapshot isolation", _SNAPSHOTS),
    ("h2", "read-uncommitted"): _theory("dirty reads, rows are locked", "yes no no no no no no no no no"),
    # Its other isolations depend on the concurrency model.
    ("hsqldb", "read-committed"): _theory("read committed", _READ_COMMITTED),
    ("seekdb", "read-committed"): _theory("read committed", _READ_COMMITTED),
    ("seekdb", "repeatable-read"): _theory("snapshot isolation", _SNAPSHOTS),
    ("seekdb", "serializable"): _theory("snapshot isolation", _SNAPSHOTS),
    ("redis", "watch"): _theory("serializability", _ALL),
    ("redis", "multi"): _theory("read committed", _READ_COMMITTED),
    ("turso", "snapshot-isolation"): _theory("snapshot isolation", _SNAPSHOTS),
    ("turso", "serializable"): _theory("serializability", _ALL),
    ("firebird", "snapshot"): _theory("snapshot isolation", _SNAPSHOTS),
    ("firebird", "snapshot-table-stability"): _theory("table locks", _ALL),
    ("firebird", "read-committed"): _theory("read committed", _READ_COMMITTED),
    ("firebird", "read-committed-no-record-version"): _theory("read committed", _READ_COMMITTED),
    ("simulated", "serializable"): _theory("serializability", _ALL),
    ("simulated", "snapshot-isolation"): _theory("snapshot isolation", _SNAPSHOTS),
    ("simulated", "read-committed"): _theory("read committed", _READ_COMMITTED),
    # A write of a key that another open transaction wrote is rolled back there.
    ("simulated", "read-uncommitted"): _theory(
        "dirty reads, no dirty writes", "yes no no no yes no yes no no no"
    ),
}
