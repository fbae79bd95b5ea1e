"""Writes the history of a recorded program as a file that `isoscope check` reads (format `program`)."""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isoscope.record.interpret import Access, Interpretation
    from isoscope.record.traces import Statement, TracedTransaction

__all__ = ["program_lines", "write_program"]


def write_program(found: Interpretation, path: Path) -> None:
    """Writes the file; the same recording gives the same bytes."""
    with path.open("w", encoding="utf-8") as file:
        for line in program_lines(found):
            file.write(json.dumps(line, ensure_ascii=False) + "\n")


def program_lines(found: Interpretation) -> Iterator[dict[str, Any]]:
    """The head, then statements where they are first used, transactions and their accesses, and orders."""
    kinds = sorted({one.database.kind for one, _ in found.transactions})
    isolations = sorted({one.isolation for one, _ in found.transactions})
    uncovered = [
        {"sql": sql, "reason": reason, "count": count} for (sql, reason), count in found.uncovered.items()
    ]
    has_content = any(not one.database.has_versions for one, _ in found.transactions)
    yield {
        "isoscope": "program",
        "version": 1,
        "databases": kinds,
        "isolations": isolations,
        "initial": "unknown" if has_content else "absent",
        "uncovered": uncovered,
    }
    for name, written in found.outside.items():
        yield {"transaction": name, "session": None, "status": "committed"}
        yield from ({"write": key, "value": value} for key, value in written.items())
    texts: dict[str, int] = {}
    sessions: dict[str, int] = {}
    for transaction, accesses in found.transactions:
        yield from _statements(accesses, texts)
        yield _transaction(transaction, sessions.setdefault(transaction.session, len(sessions) + 1))
        yield from (_access(one, texts) for one in accesses)
    yield from ({"versions": key, "order": order} for key, order in found.orders.items())
    yield from ({"initial": key, "value": value} for key, value in found.initial.items())


def _statements(accesses: list[Access], texts: dict[str, int]) -> Iterator[dict[str, Any]]:
    for one in accesses:
        if one.statement is not None and one.statement.sql not in texts:
            texts[one.statement.sql] = len(texts)
            yield {"statement": texts[one.statement.sql], "sql": " ".join(one.statement.sql.split())}


def _transaction(one: TracedTransaction, session: int) -> dict[str, Any]:
    return {
        "transaction": one.number,
        "session": session,
        "status": one.status,
        "isolation": one.isolation,
        "interval": [one.begin, one.end[1]],
    }


def _access(one: Access, texts: dict[str, int]) -> dict[str, Any]:
    name = "values" if one.kind == "not-shown" else "value"
    row: dict[str, Any] = (
        {"uncovered": one.uncovered} if one.uncovered else {one.kind: one.key, name: one.value}
    )
    if one.is_absent:
        row["absent"] = True
    return row if one.statement is None else row | _about(one.statement, texts)


def _about(statement: Statement, texts: dict[str, int]) -> dict[str, Any]:
    return {
        "statement": texts[statement.sql],
        "parameters": statement.parameters,
        "at": [_shown(statement.path), statement.line],
        "interval": [statement.invoke, statement.complete],
    }


@cache
def _shown(path: str) -> str:
    """The path as seen from the current folder, if it is below it."""
    relative = os.path.relpath(path) if path else ""
    return path if relative.startswith("..") else Path(relative).as_posix()
