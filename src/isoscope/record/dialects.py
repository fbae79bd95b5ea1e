"""How each database says what the hidden columns of the recorder need."""

from __future__ import annotations

from dataclasses import replace

from isoscope.record.plan import Dialect, Kind

__all__ = ["DIALECTS"]

DIALECTS = {
    # `xmin` is the number of the transaction that wrote the version of the row.
    "postgresql": Dialect(
        name="postgres",
        style="pyformat",
        version="xmin",
        text="{}::text",
        plain=frozenset({"int2", "int4", "int8", "text", "varchar", "uuid", "xid", "record"}),
        # Each function is the cheapest of those that were measured.
        row="ROW({}.*)",
        collect="array_to_json(array_agg(ARRAY[{}]))::text",
        has_parts=True,
    ),
    "sqlite": Dialect(
        name="sqlite",
        style="qmark",
        pair="json_object({})",
        # JSON holds no bytes.
        cell="CASE typeof({0}) WHEN 'blob' THEN hex({0}) ELSE {0} END",
        is_separate=True,
        has_parts=True,
    ),
    # All connections to a file are of one process, which lets one of them commit at a time.
    "duckdb": Dialect(
        name="duckdb",
        style="qmark",
        pair="json_object({})",
        is_separate=True,
        is_commit_ordered=True,
        has_parts=True,
    ),
    # Rows do not name their writers, unless tables are made with system versioning: their content has to do.
    "mariadb": Dialect(
        name="mysql",
        style="pyformat",
        text="CAST({} AS CHAR)",
        collect="JSON_ARRAYAGG(JSON_ARRAY({}))",
        pair="JSON_OBJECT({})",
        quote="`",
        is_folding=False,
        returning=(Kind.INSERT, Kind.DELETE),
    ),
}
DIALECTS["mysql"] = replace(DIALECTS["mariadb"], returning=())
# Rows name their writers as on PostgreSQL, and transactions commit one after the other.
DIALECTS["simulated"] = replace(
    DIALECTS["postgresql"], plain=frozenset(), is_separate=True, is_commit_ordered=True, has_parts=False
)
