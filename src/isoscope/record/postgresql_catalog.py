"""What the recorder asks a PostgreSQL server, whichever driver the program uses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from isoscope.record.dialects import DIALECTS
from isoscope.record.recording import Database
from isoscope.record.tables import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["Ask", "failed_status", "postgresql_database"]

#: Rows of a statement with parameters, on a connection of its own: no snapshot of the program is touched.
Ask: TypeAlias = "Callable[[str, Sequence[Any]], Sequence[Any]]"

_TABLE = """
SELECT a.attname, t.typname, coalesce(a.attnum = ANY (i.indkey::int2[]), false),
       array_position(i.indkey::int2[], a.attnum),
       NOT (c.relhasrules OR c.relhassubclass OR a.attgenerated <> ''
            OR EXISTS (SELECT FROM pg_trigger r WHERE r.tgrelid = c.oid AND NOT r.tgisinternal)
            OR EXISTS (SELECT FROM pg_constraint f WHERE f.conrelid = c.oid AND f.contype = 'f'
                       AND (f.confupdtype NOT IN ('a', 'r') OR f.confdeltype NOT IN ('a', 'r'))))
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid JOIN pg_type t ON t.oid = a.atttypid
LEFT JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
WHERE c.oid = to_regclass(%s) AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
"""
_FACTS = """
SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint, current_setting('default_transaction_isolation')
"""


def postgresql_database(name: str, ask: Ask) -> Database:
    """A database that a server has under this name."""

    def find(table: str) -> Table | None:
        rows = ask(_TABLE, [".".join(f'"{part}"' for part in table.split("."))])
        if not rows:
            return None
        key = sorted((place, column) for column, _, is_key, place, _ in rows if is_key)
        columns, types = tuple(row[0] for row in rows), tuple(row[1] for row in rows)
        is_plain = all(row[4] for row in rows)
        return Table(table, tuple(column for _, column in key), columns, types, is_plain)

    def facts() -> dict[str, Any]:
        [(first, isolation)] = ask(_FACTS, [])
        return {"name": name, "first": first % 2**32, "isolation": isolation.replace(" ", "-")}

    return Database("postgresql", DIALECTS["postgresql"], find, facts)


def failed_status(sqlstate: str | None) -> str:
    """A commit that the server refused is aborted; without its answer the end is not known."""
    return "indeterminate" if (sqlstate or "08")[:2] in ("08", "57") else "aborted"
