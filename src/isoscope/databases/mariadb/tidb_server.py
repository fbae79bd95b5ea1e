"""A `tidb-server` on this machine, for one run, with its store for tests (unistore) in the same process."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

from isoscope.databases.mariadb import connection
from isoscope.errors import DatabaseError

if TYPE_CHECKING:
    from isoscope.databases.process import Server

__all__ = ["find_program", "start"]

_PLACE = connection.Place(host="127.0.0.1", port=0, user="root", password="")
_ARGUMENTS = ("-store", "unistore", "-path", "data", "-host", _PLACE.host, "-L", "error")
#: Nothing but the protocol of MySQL is listened for, and all files are in the folder of the run.
_QUIET = ("--report-status=false", "--temp-dir", "temporary", "--socket", "socket")


def find_program() -> str:
    """The program `tidb-server`; raises `DatabaseError` if there is none."""
    program = os.environ.get("ISOSCOPE_TIDB") or shutil.which("tidb-server")
    if not program:
        raise DatabaseError(
            "TiDB cannot be started: there is no tidb-server on this machine\n\n"
            "hint: ISOSCOPE_TIDB names the program; or name a server: tidb://USER:PASSWORD@HOST:PORT/DATABASE"
        )
    return program


def start(process: Server) -> connection.Place:
    """Starts a temporary server; raises `DatabaseError`."""
    command = [find_program(), *_ARGUMENTS, *_QUIET]
    port = process.start(lambda port: [*command, "-P", str(port)], _answers)
    return replace(_PLACE, port=port)


def _answers(port: int) -> bool:
    try:
        connection.connect(replace(_PLACE, port=port)).close()
    except DatabaseError:
        return False
    return True
