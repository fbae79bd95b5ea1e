"""What the recorder asks a PostgreSQL server, or one that speaks its protocol, whichever driver is used.

CockroachDB and YugabyteDB have no `xmin`, and not all of the catalogue. What is asked there follows their
documentation and was never run here: views of the standard (`information_schema`), `SHOW`, and `PREPARE`,
which lets the server refuse a changed statement before the program needs it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from isoscope.record.dialects import DIALECTS
from isoscope.record.distributed_commands import UNKNOWN_ENDS
from isoscope.record.placeholders import mark, numbered
from isoscope.record.recording import Database
from isoscope.record.tables import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from isoscope.record.plan import Plan

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
_STANDARD_TABLE = """
SELECT c.column_name, CASE WHEN c.collation_name IS NULL THEN c.udt_name ELSE '' END, k.ordinal_position
FROM information_schema.columns c
LEFT JOIN information_schema.table_constraints p ON p.table_schema = c.table_schema
  AND p.table_name = c.table_name AND p.constraint_type = 'PRIMARY KEY'
LEFT JOIN information_schema.key_column_usage k ON k.constraint_schema = p.constraint_schema
  AND k.constraint_name = p.constraint_name AND k.table_name = p.table_name AND k.column_name = c.column_name
WHERE c.table_schema = coalesce(%s, current_schema()) AND c.table_name = %s ORDER BY c.ordinal_position
"""
#: What `version()` says: "CockroachDB CCL v23.1.0 (...)", "PostgreSQL 11.2-YB-2.18.0.0-b65 on ...".
_SERVERS = (("cockroachdb", "CockroachDB"), ("yugabytedb", "-YB-"))
#: The setting by which all reads of a connection may see old versions.
_PAST = {
    "cockroachdb": "SHOW default_transaction_use_follower_reads",
    "yugabytedb": "SHOW yb_read_from_followers",
}
_FACTS = """
SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint, current_setting('default_transaction_isolation')
"""


def postgresql_database(name: str, ask: Ask) -> Database:
    """A database that a server has under this name."""
    [(version,)] = ask("SELECT version()", [])
    kind = next((kind for kind, word in _SERVERS if word in version), "")
    return _distributed_database(kind, name, ask) if kind else _own_database(name, ask)


def _own_database(name: str, ask: Ask) -> Database:
    """One of PostgreSQL itself."""

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


def _distributed_database(kind: str, name: str, ask: Ask) -> Database:
    """One of CockroachDB or YugabyteDB."""

    def find(table: str) -> Table | None:
        schema, _, last = table.rpartition(".")
        rows = [row for row in _answered(ask, _STANDARD_TABLE, [schema or None, last]) if _is_visible(row[0])]
        key = sorted((place, column) for column, _, place in rows if place is not None)
        columns, types = tuple(row[0] for row in rows), tuple(row[1] for row in rows)
        return Table(table, tuple(column for _, column in key), columns, types) if rows else None

    def facts() -> dict[str, Any]:
        level = _answered(ask, "SHOW default_transaction_isolation") or [("",)]
        past = _answered(ask, _PAST[kind]) or [("off",)]
        isolation = str(level[0][0]).lower().replace(" ", "-")
        return {"name": name, "isolation": isolation, "reads_past": str(past[0][0]).lower() != "off"}

    def accepts(plan: Plan) -> bool:
        text = numbered(mark(plan.text, DIALECTS[kind].style).text).replace("%%", "%").rstrip("; \n")
        try:
            ask(f"PREPARE isoscope_plan AS {text}", [])
            ask("DEALLOCATE isoscope_plan", [])
        except Exception:  # Whatever the server has against it, the program must not meet it.
            return False
        return True

    return Database(kind, DIALECTS[kind], find, facts, accepts=accepts)


def _answered(ask: Ask, sql: str, values: Sequence[Any] = ()) -> Sequence[Any]:
    """The rows of a question that the server may not know: none then, and the program goes on."""
    try:
        return ask(sql, values)
    except Exception:
        return []


def _is_visible(column: str) -> bool:
    """Whether statements may name a column: the database makes some for its own indexes."""
    return not column.startswith("crdb_internal_")


def failed_status(sqlstate: str | None) -> str:
    """A commit that the server refused is aborted; without its answer the end is not known."""
    if sqlstate in UNKNOWN_ENDS:
        return "indeterminate"
    return "indeterminate" if (sqlstate or "08")[:2] in ("08", "57") else "aborted"
