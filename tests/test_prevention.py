"""What is suggested against an anomaly of a recorded program."""

from __future__ import annotations

from isoscope.explain.prevention import ABSENT_ROW, Suggestion, suggestions
from isoscope.verdict import Anomaly, Participant, Witness

LOCK = "add FOR UPDATE to the SELECT at app.py:3, so that the second transaction waits for the first"
REPEAT = "run these transactions at SERIALIZABLE and repeat those that fail"
CONSTRAINT = (
    f"{REPEAT}, or give the table a constraint that forbids the second row: locks on rows do not help, "
    "because app.py:3 read rows that were not there yet"
)


def against(
    sql: str, value: object = 1, kind: str = "read", matters: frozenset[int] = frozenset({0})
) -> list[Suggestion]:
    """The suggestions against an anomaly of one statement."""
    one = Witness(transaction="T1", kind=kind, key="x", value=value, index=0, sql=sql, place="app.py:3")
    participant = Participant(
        transaction="T1",
        lane=0,
        session=1,
        position=0,
        status="committed",
        operations=(one,),
        matters=matters,
    )
    anomaly = Anomaly(name="lost-update", transactions=("T1",), keys=("x",), participants=(participant,))
    return [*suggestions(anomaly)]


def said(sql: str, value: object = 1) -> list[str]:
    return [str(suggestion) for suggestion in against(sql, value)]


def test_a_select_can_lock_its_rows_or_run_at_serializable() -> None:
    assert said("SELECT n FROM t") == [LOCK, REPEAT]
    assert said(" (select n FROM t)") == [LOCK, REPEAT]


def test_what_is_no_select_takes_no_lock() -> None:
    assert said("UPDATE t SET n = n + 1") == [REPEAT]


def test_rows_that_were_not_there_cannot_be_locked() -> None:
    assert said("SELECT n FROM t", ABSENT_ROW) == [CONSTRAINT]


def test_there_is_no_suggestion_without_a_read_that_matters() -> None:
    assert against("") == []
    assert against("SELECT n FROM t", kind="write") == []
    assert against("SELECT n FROM t", matters=frozenset()) == []


def test_the_statement_of_a_suggestion_is_without_its_parameters() -> None:
    found = {suggestion.statements for suggestion in against("SELECT n FROM t  [1]")}
    assert found == {(("SELECT n FROM t", "app.py:3"),)}
