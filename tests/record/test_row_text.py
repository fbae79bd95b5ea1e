"""The content of rows, from the texts that PostgreSQL writes."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

import isoscope
from isoscope.record.row_text import row_content
from isoscope.record.tables import Table

CASES = {
    ("int4", "7"): 7,
    ("numeric", "7.50"): Decimal("7.50"),
    ("bool", "t"): True,
    ("bool", "f"): False,
    ("bpchar", '"ab  "'): "ab",
    ("text", '""'): "",
    ("text", '"a ""b"", (c)"'): 'a "b", (c)',
    ("text", '"a\\\\b"'): "a\\b",
    ("text", '"two\nlines"'): "two\nlines",
    ("text", ""): None,
    ("time", "12:00:00.5"): "12:00:00.500000",
    ("timestamp", '"2026-01-02 03:04:05"'): "2026-01-02T03:04:05",
    ("timestamptz", '"2026-01-02 03:04:05+02"'): "2026-01-02T01:04:05+00:00",
}


@pytest.mark.parametrize(("kind", "text"), CASES)
def test_a_field_is_read_by_its_type(kind: str, text: str) -> None:
    table = Table("t", ("id",), ("id", "a", "z"), ("int4", kind, "text"))
    found: dict[str, Any] = {"id": 1, "a": CASES[kind, text], "z": '"'}
    assert row_content(f'(1,{text},"""")', table) == found


@pytest.mark.parametrize(
    ("kind", "text"),
    [("numeric", "NaN"), ("timestamp", "infinity"), ("interval", '"1 day"'), ("_int4", "{}")],
)
def test_a_value_that_does_not_compare_as_a_text_is_left_out(kind: str, text: str) -> None:
    assert row_content(f"(1,{text})", Table("t", ("id",), ("id", "a"), ("int4", kind))) == {"id": 1}


def test_a_table_that_was_changed_by_another_program_is_refused() -> None:
    with pytest.raises(isoscope.UsageError, match="the columns of the table t changed"):
        row_content("(1,2)", Table("t", ("id",), ("id",), ("int4",)))
