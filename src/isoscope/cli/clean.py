"""`isoscope clean`: removes what killed runs left on a database server or in a file."""

from __future__ import annotations

import click

from isoscope import databases
from isoscope.errors import UsageError

__all__ = ["command"]


@click.command("clean")
@click.argument("url", metavar="URL")
def command(url: str) -> int:
    """Remove what killed runs left on a database server.

    A run at a URL makes objects of its own and removes them when it ends. One that is killed leaves them
    behind: on PostgreSQL a schema with a table, a publication and perhaps a slot of logical decoding, on
    MariaDB and MySQL a table or a database, in a file of SQLite or DuckDB a table. Objects of runs that are
    still connected are named and left alone, and so is every object with another name.

    The history of a killed run is the file that ends in `.recording`: `isoscope check` reads it.

    \b
    Exits 0, or 2 if the database cannot be used.

    \b
    Examples:
        isoscope clean postgresql://user:password@host/name
        isoscope clean mariadb://user:password@host
        isoscope clean sqlite:test.db
    """
    if ":" not in url:
        raise UsageError(
            f"expected a URL such as postgresql://user:password@host/name, found `{url}`\n\n"
            "hint: only runs at a URL, or in a file such as sqlite:test.db, can leave something behind"
        )
    found = databases.connect(url).clean()
    for leftover in found:
        click.echo(f"{'in use, kept' if leftover.is_in_use else 'removed'}: {leftover.what}")
    if not found:
        click.echo("nothing was left behind")
    return 0
