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
# The protocol is that of PostgreSQL, and rows have no `xmin`: https://github.com/yugabyte/yugabyte-db/issues/24843.
# Each column is a text, so that no type is unknown to JSON. Writers may not lock rows before they commit, so
# that only commits that do not overlap tell an order. `postgresql_catalog.py` has every statement prepared
# by the server before it is changed: neither database was ever run here.
DIALECTS["yugabytedb"] = replace(
    DIALECTS["postgresql"],
    version="",
    plain=frozenset(),
    row="",
    collect="json_agg(json_build_array({}))::text",
    pair="json_build_object({})::text",
    cell="{}::text",
    is_commit_ordered=True,
    has_parts=False,
    has_text_cells=True,
    past=("yb_read_from_followers",),
)
# The column shows when a version was committed, but not in RETURNING ("column does not exist", by its own
# test `system_columns`), and of a transaction's own writes a time that changes until the commit
# (https://github.com/cockroachdb/cockroach/issues/58046). So the content of a row is its version here, too,
# and the time says which of several writers of the same content it was.
DIALECTS["cockroachdb"] = replace(
    DIALECTS["yugabytedb"],
    stamp="crdb_internal_mvcc_timestamp",
    past=("as of system time", "follower_reads"),
    is_restarting=True,
)
DIALECTS["mysql"] = replace(DIALECTS["mariadb"], returning=())
# Rows name their writers as on PostgreSQL, and transactions commit one after the other.
DIALECTS["simulated"] = replace(
    DIALECTS["postgresql"], plain=frozenset(), is_separate=True, is_commit_ordered=True, has_parts=False
)
