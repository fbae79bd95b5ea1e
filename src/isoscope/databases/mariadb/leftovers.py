"""What killed runs left at a URL: databases and tables with the name of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isoscope.databases.database import Leftover

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["lock", "remove_leftovers"]

#: The name of a run, as a regular expression of MariaDB.
_NAME = "^isoscope_[0-9a-f]{8}$"


def lock(ask: Callable[[str], Any], name: str) -> None:
    """Marks the run as living: the lock ends with its connection, however that ends."""
    ask(f"SELECT GET_LOCK('{name}', 0)")


def remove_leftovers(ask: Callable[[str], Any], database: str) -> Iterator[Leftover]:
    """Removes databases of runs, or their tables in the `database` of the URL; living runs keep theirs."""
    prefix, kind, source = "", "database", "schema_name FROM information_schema.schemata WHERE schema_name"
    if database:
        prefix, kind = f"`{database.replace('`', '``')}`.", "table"
        schema = database.replace("\\", "\\\\").replace("'", "''")
        source = f"table_name FROM information_schema.tables WHERE table_schema = '{schema}' AND table_name"
    for (name,) in ask(f"SELECT {source} REGEXP '{_NAME}' ORDER BY 1"):
        is_in_use = ask(f"SELECT IS_USED_LOCK('{name}')")[0][0] is not None
        if not is_in_use:
            ask(f"DROP {kind.upper()} IF EXISTS {prefix}`{name}`")
        yield Leftover(f"{kind} {name}", is_in_use)
