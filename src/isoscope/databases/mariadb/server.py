"""A temporary MariaDB server: on this machine, for this run, with a random password."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from secrets import token_hex
from typing import TYPE_CHECKING

from isoscope.databases.mariadb.connection import URL, Place, connect
from isoscope.errors import DatabaseError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from isoscope.databases.process import Server

__all__ = ["LEAST", "refuse_full", "start"]

#: Folders of programs in addition to PATH.
_FOLDERS = ("/usr/sbin", "/usr/bin", "/usr/libexec", "/usr/local/sbin", "/usr/local/bin", "/opt/homebrew/bin")
_OPTIONS = (
    "--bind-address=127.0.0.1",
    "--skip-name-resolve",
    # In its folder: the name of a socket must be short.
    "--socket=socket",
    "--pid-file=pid",
    "--max-connections=1000",
)
_LOG = ("--log-bin=log", "--server-id=1", "--binlog-format=ROW", "--binlog-row-image=FULL")
#: Bytes of disk space that a running server needs, and that a new one takes.
LEAST, _NEW = 1 << 20, 160 << 20
_ACCOUNTS = """\
CREATE USER {user}@'127.0.0.1' IDENTIFIED BY '{password}';
GRANT ALL ON *.* TO {user}@'127.0.0.1' WITH GRANT OPTION;
DROP USER IF EXISTS root@localhost, root@'127.0.0.1';
"""


def start(server: Server, settings: Mapping[str, str]) -> Place:
    """Starts a server with `settings` in a folder, and waits until it answers; raises `DatabaseError`."""
    program, install = _found("mariadbd", "mysqld"), _found("mariadb-install-db", "mysql_install_db")
    refuse_full(server, _NEW)
    data, accounts = server.folder / "data", server.folder / "accounts.sql"
    place = Place(host="127.0.0.1", port=0, user="isoscope", password=token_hex(16))
    own = ["--no-defaults", f"--datadir={data}"]
    server.run([install, *own, "--auth-root-authentication-method=normal", "--skip-test-db"])
    accounts.write_text(_ACCOUNTS.format(user=place.user, password=place.password))
    command = [program, *own, f"--init-file={accounts}", *_OPTIONS, *_arguments(settings)]
    port = server.start(
        lambda port: [*command, f"--port={port}"], lambda port: _answers(replace(place, port=port))
    )
    return replace(place, port=port)


def refuse_full(server: Server, least: int) -> None:
    """Raises `DatabaseError` if the disk has fewer free bytes for the files of the server."""
    free = shutil.disk_usage(server.folder).free
    if free < least:
        raise DatabaseError(
            f"there is no space left for the files of MariaDB: {free >> 20} MiB in {server.folder.parent}\n\n"
            "hint: TMPDIR names the folder in which temporary ones are made"
        )


def _arguments(settings: Mapping[str, str]) -> list[str]:
    log = ["--skip-log-bin"] if settings.get("log_bin") == "OFF" else [*_LOG]
    return log + [f"--{name}={value}" for name, value in settings.items() if name != "log_bin"]


def _answers(place: Place) -> bool:
    try:
        connect(place).close()
    except DatabaseError:
        return False
    return True


def _found(*names: str) -> str:
    for name in names:
        found = shutil.which(name) or shutil.which(name, path=os.pathsep.join(_FOLDERS))
        if found:
            return found
    raise DatabaseError(
        f"MariaDB cannot be started: there is no {names[0]} on this machine\n\n"
        f"hint: install it (Debian: apt install mariadb-server), or name a server: {URL}"
    )
