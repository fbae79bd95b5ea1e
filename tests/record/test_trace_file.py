"""The files of recorded processes: parameters of any type, whether they were met before or not."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from isoscope.record.dialects import DIALECTS
from isoscope.record.done import Done
from isoscope.record.plan import not_understood
from isoscope.record.recording import Database
from isoscope.record.trace_file import Writer, read_records

if TYPE_CHECKING:
    from pathlib import Path

PAY = not_understood("UPDATE a SET b = %s", "a test")


def written(path: Path, *parameters: Any) -> list[list[Any]]:
    """The parameters of one statement that is executed in a transaction each."""
    database = Database("postgresql", DIALECTS["postgresql"], lambda _: None)
    writer = Writer(path)
    for one in parameters:
        done = [Done(PAY.text, PAY, one, ("app.py", 1), 1, 2)]
        writer.transaction("1", {"status": "committed"}, writer.prepared(database, done))
    writer.close()
    rows = (row for row in read_records(path) if "transaction" in row)
    return [list(row["done"][0][1]) for row in rows]


def test_parameters_that_are_no_plain_values_are_written_as_texts_each_time(tmp_path: Path) -> None:
    given = (7, None, "x", 2.5, Decimal("1.50"), date(2026, 1, 2))
    shown = [7, None, "x", 2.5, "1.50", "2026-01-02"]
    assert written(tmp_path / "one.trace", given, [*given], (1, "y")) == [shown, shown, [1, "y"]]


def test_parameters_by_name_keep_their_names(tmp_path: Path) -> None:
    assert written(tmp_path / "one.trace", {"a": Decimal(1)}) == [["a"]]
