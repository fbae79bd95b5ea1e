"""What killed runs left at a URL: schemas, publications and slots with the name of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isoscope.databases.database import Leftover

if TYPE_CHECKING:
    from collections.abc import Iterator

    from psycopg import Connection

__all__ = ["remove_leftovers"]

#: The name of a run, as a regular expression of PostgreSQL.
_NAME = "^isoscope_[0-9a-f]{8}$"
#: Objects with such a name, those first that others depend on.
_FOUND = {
    "slot": "SELECT slot_name FROM pg_replication_slots WHERE slot_name ~ %s AND NOT active"
    " AND database = current_database()",
    "publication": "SELECT pubname FROM pg_publication WHERE pubname ~ %s",
    "schema": "SELECT nspname FROM pg_namespace WHERE nspname ~ %s",
}
_REMOVED = {
    "slot": "SELECT pg_drop_replication_slot('{}')",
    "publication": "DROP PUBLICATION IF EXISTS {}",
    "schema": "DROP SCHEMA IF EXISTS {} CASCADE",
}


def remove_leftovers(admin: Connection[Any]) -> Iterator[Leftover]:
    """Removes them. The connections of a living run bear its name, and its objects are left alone."""
    active = "SELECT DISTINCT application_name FROM pg_stat_activity WHERE application_name ~ %s"
    living = {name for (name,) in admin.execute(active, [_NAME]).fetchall()}
    for kind, statement in _FOUND.items():
        for (name,) in admin.execute(f"{statement} ORDER BY 1", [_NAME]).fetchall():
            if name not in living:
                admin.execute(_REMOVED[kind].format(name))
            yield Leftover(f"{kind} {name}", name in living)
