"""PostgreSQL's own benchmark, with statements of ours, on a server that was started for it."""

from __future__ import annotations

import os
import re
import subprocess
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

from isoscope.errors import DatabaseError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

__all__ = ["rate", "script", "server"]

#: What `isoscope.databases.postgresql` sets if it starts a server by itself, and for its connections.
_PARAMETERS = {"deadlock_timeout": "10ms", "fsync": "off", "shared_buffers": "128MB", "wal_level": "logical"}
_OPTIONS = "-c enable_seqscan=off -c plan_cache_mode=force_generic_plan"
#: Its table.
_TABLE = "CREATE TABLE isoscope (key bigint PRIMARY KEY, value bigint NOT NULL) WITH (fillfactor = 50)"


@contextmanager
def server() -> Iterator[dict[str, Any]]:
    """A server: how to connect, and where its programs are; raises `DatabaseError` if there is none."""
    try:
        ours = import_module("isoscope.databases.postgresql.server")
    except ModuleNotFoundError:
        raise DatabaseError("there is no driver for PostgreSQL") from None
    process, where = ours.start(_PARAMETERS)
    try:
        yield {**where, "programs": ours.find_programs()}
    finally:
        ours.stop(process)


def script(keys: int, reads: int, writes: int) -> str:
    """A transaction that reads and then writes keys that are drawn uniformly."""
    key = f"\\set key random(0, {keys - 1})\n"
    value = "\\set value random(1, 1000000000)\n"
    read = f"{key}SELECT value FROM isoscope WHERE key = :key;\n"
    write = f"{key}{value}UPDATE isoscope SET value = :value WHERE key = :key;\n"
    return f"BEGIN ISOLATION LEVEL READ COMMITTED;\n{read * reads}{write * writes}COMMIT;\n"


def rate(where: Mapping[str, Any], script: str, *, keys: int, clients: int, seconds: float) -> float | None:
    """Transactions a second on a new table; None if pgbench is not installed."""
    program: Path = where["programs"] / "pgbench"
    if not program.exists():
        return None
    address = {name: where[name] for name in ("host", "port", "user", "password", "dbname")}
    with import_module("psycopg").connect(**address, autocommit=True) as connection:
        connection.execute(_TABLE)
        connection.execute(f"INSERT INTO isoscope SELECT key, 0 FROM generate_series(0, {keys - 1}) AS key")
        try:
            return _measured([str(program), *_arguments(where, clients, seconds)], script, where["password"])
        finally:
            connection.execute("DROP TABLE isoscope")


def _arguments(where: Mapping[str, Any], clients: int, seconds: float) -> Iterator[str]:
    yield from ("--no-vacuum", "--protocol=prepared", "--max-tries=100", "--file=/dev/stdin")
    yield f"--client={clients}"
    yield f"--jobs={min(clients, os.cpu_count() or 1)}"
    yield f"--time={max(1, round(seconds))}"
    yield from (f"--host={where['host']}", f"--port={where['port']}", f"--username={where['user']}")
    yield where["dbname"]


def _measured(line: list[str], script: str, password: str) -> float:
    environment = os.environ | {"PGPASSWORD": password, "PGOPTIONS": _OPTIONS}
    done = subprocess.run(line, input=script, env=environment, capture_output=True, text=True, check=False)
    found = re.search(r"tps = ([\d.]+)", done.stdout)
    if done.returncode or found is None:
        raise DatabaseError(f"pgbench failed: {done.stderr.strip()}")
    return float(found[1])
