"""Conditions answer as the database does, or say that they do not know."""

from __future__ import annotations

import sqlite3
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlglot import exp, parse_one

from isoscope.record.conditions import equalities, matches

VALUES = st.one_of(st.none(), st.integers(-2, 2))
COMPARED = st.one_of(st.integers(-2, 2).map(str), st.just("NULL"), st.sampled_from(["a", "b"]))


def comparisons() -> st.SearchStrategy[str]:
    column = st.sampled_from(["a", "b"])
    return st.one_of(
        st.builds("{} {} {}".format, column, st.sampled_from(["=", "<>", "<", "<=", ">", ">="]), COMPARED),
        st.builds("{} IS {}NULL".format, column, st.sampled_from(["", "NOT "])),
        st.builds("{} BETWEEN {} AND {}".format, column, COMPARED, COMPARED),
        st.builds("{} IN ({}, {})".format, column, COMPARED, COMPARED),
    )


CONDITIONS = st.recursive(
    comparisons(),
    lambda inner: st.one_of(
        st.builds("({}) {} ({})".format, inner, st.sampled_from(["AND", "OR"]), inner),
        st.builds("NOT ({})".format, inner),
    ),
    max_leaves=5,
)


@given(condition=CONDITIONS, a=VALUES, b=VALUES)
def test_an_answer_is_that_of_the_database(condition: str, a: int | None, b: int | None) -> None:
    tree = parse_one(f"SELECT 1 FROM t WHERE {condition}", dialect="sqlite").args["where"]
    ours = matches(tree, {"a": a, "b": b}, [])
    connection = sqlite3.connect(":memory:")
    rows = connection.execute(f"SELECT 1 FROM (SELECT ? AS a, ? AS b) WHERE {condition}", (a, b)).fetchall()
    connection.close()
    assert ours is None or ours == bool(rows)


def where(condition: str) -> exp.Expr:
    found: exp.Expr = parse_one(f"SELECT 1 FROM t WHERE {condition}", dialect="postgres").args["where"]
    return found


@pytest.mark.parametrize(
    ("condition", "row", "answer"),
    [
        ("a = :p_0_", {"a": "7"}, True),
        ("a = :p_0_", {"a": 8}, False),
        ("a = :p_0_::int AND b = 'x'", {"a": 7, "b": "x"}, True),
        ("a = 7", {}, None),
        ("a < 'b'", {"a": "a"}, True),
        ("a < 'B'", {"a": "a"}, None),
        ("a = 'B'", {"a": "a"}, False),
        ("a < '2026-01-02'", {"a": "2026-01-01"}, True),
        ("a < '2026-01-01T00:30:00+01:00'", {"a": "2026-01-01T00:00:00+00:00"}, False),
        ("a = '2026-01-01T01:00:00+01:00'", {"a": "2026-01-01T00:00:00+00:00"}, True),
        ("a = '2026-01-01T01:00:00'", {"a": "2026-01-01T00:00:00+00:00"}, None),
        ("lower(a) = 'x'", {"a": "X"}, None),
        ("a = 8 AND lower(b) = 'x'", {"a": 7}, False),
        ("a = 7 OR lower(b) = 'x'", {"a": 7}, True),
        ("a IN (SELECT 1)", {"a": 1}, None),
        ("a = -7", {"a": -7}, True),
        ("a = true", {"a": True}, True),
        ("a < 1.5", {"a": 1}, True),
        ("a", {"a": False}, False),
    ],
)
def test_what_is_not_known_does_not_decide(condition: str, row: dict[str, Any], answer: bool | None) -> None:
    assert matches(where(condition), row, [7]) is answer


def test_the_columns_that_are_compared_with_one_value_are_found() -> None:
    assert equalities(where("a = :p_0_ AND 3 = b AND c > 1 AND d = e"), [7]) == {"a": 7, "b": 3}
    assert equalities(where("a = 1 OR b = 2"), []) == {}


@pytest.mark.parametrize(
    ("listed", "row", "answers"),
    [
        ([1, 2], {"a": 2}, (True, False)),
        ([1, 2], {"a": 3}, (False, True)),
        ([1, None], {"a": 3}, (False, None)),
        ([], {"a": 3}, (False, True)),
        ([1, {}], {"a": 3}, (None, None)),
        (7, {"a": 7}, (None, None)),
    ],
)
def test_a_list_of_values_is_searched(listed: Any, row: dict[str, Any], answers: tuple[Any, Any]) -> None:
    """As a parameter of psycopg2, or as what a subquery answered."""
    given_values = [listed]
    found = [matches(where(text), row, given_values) for text in ("a IN :p_0_", "a NOT IN :p_0_")]
    assert tuple(found) == answers
