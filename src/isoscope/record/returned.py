"""The rows that RETURNING gives to the program, without the hidden columns behind them.

Drivers that hand results out in many forms (row factories, tables, types of columns) are given a SELECT of
these rows instead, so that all of their ways to fetch stay as they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["constants"]


def constants(
    names: Sequence[str], rows: Sequence[Sequence[Any]], types: Sequence[str] = ()
) -> tuple[str, list[Any]]:
    """A SELECT that gives these rows, and its parameters; columns are cast to `types` if there are any."""
    cells = [f"c{number}" for number in range(len(names))] if rows else ["NULL"] * len(names)
    if types:
        cells = [f"CAST({cell} AS {kind})" for cell, kind in zip(cells, types, strict=True)]
    columns = ", ".join(f"{cell} AS {_quoted(name)}" for cell, name in zip(cells, names, strict=True))
    if not rows:
        return f"SELECT {columns} LIMIT 0", []
    row = f"({', '.join('?' * len(names))})"
    head = f"WITH returned ({', '.join(f'c{number}' for number in range(len(names)))})"
    text = f"{head} AS (VALUES {', '.join([row] * len(rows))}) SELECT {columns} FROM returned"
    return text, [cell for row in rows for cell in row]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
