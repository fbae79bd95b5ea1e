"""What statements of several processes say together: versions, their order, and rows that were not shown."""

from __future__ import annotations

import json
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

import isoscope
from isoscope._native import Term
from isoscope.history import Range
from isoscope.record.interpret import interpret
from isoscope.record.program_file import write_program
from isoscope.record.trace_file import encoded
from isoscope.record.traces import read_traces

if TYPE_CHECKING:
    from pathlib import Path

    from isoscope.history import History

COUNT = "SELECT count(*) FROM users WHERE name = %s"
GET = "SELECT name FROM users WHERE id = %s"
INSERT = "INSERT INTO users VALUES (%s, %s)"
UPDATE = "UPDATE users SET name = %s WHERE id = %s"
DELETE = "DELETE FROM users WHERE id = %s"
FIRST = "SELECT id FROM users WHERE name = %s ORDER BY id LIMIT 1"
JOIN = "SELECT u.id FROM users u JOIN users v ON v.name = u.name WHERE u.name = %s"
TEXTS = (COUNT, GET, INSERT, UPDATE, DELETE, FIRST, JOIN)


#: The bounds of a read of the first row that did not show it.
ONLY_ROW = Range(low=Term("users/1"), high=Term("users/1"))


def statement(sql: str, parameters: list[Any], times: tuple[int, int], *rows: list[Any]) -> list[Any]:
    number = TEXTS.index(sql)
    return [number, parameters, number, *times, list(rows), False, ""]


def inserted(xid: int, key: int, name: str, times: tuple[int, int]) -> list[Any]:
    return statement(INSERT, [key, name], times, [str(xid), f"({key},{name})"])


def updated(xid: int, key: int, name: str, times: tuple[int, int]) -> list[Any]:
    return statement(UPDATE, [name, key], times, [str(xid), f"({key},{name})"])


def read(xid: int, key: int, times: tuple[int, int]) -> list[Any]:
    return statement(GET, [key], times, [str(xid), str(key)])


def counted(name: str, times: tuple[int, int], *found: tuple[int, int]) -> list[Any]:
    rows = json.dumps([[str(xid), str(key)] for xid, key in found]) if found else None
    return statement(COUNT, [name], times, [rows])


def transaction(
    session: str, end: tuple[int, int], *done: list[Any], status: str = "committed"
) -> dict[str, Any]:
    row = {"transaction": session, "database": 0, "status": status, "isolation": "read-committed"}
    return {**row, "end": end, "done": list(done)}


def history(folder: Path, *transactions: dict[str, Any]) -> History:
    lines: list[dict[str, Any]] = [{"kind": "postgresql", "number": 0, "dialect": "postgres", "first": 100}]
    lines += [{"statement": n, "database": 0, "sql": sql} for n, sql in enumerate(TEXTS)]
    lines += [{"place": n, "at": ("app.py", 1 + n)} for n in range(len(TEXTS))]
    about = {"key": ["id"], "columns": ["id", "name"], "types": ["int4", "text"]}
    lines.append({"table": "users", "database": 0, **about})
    for number, one in enumerate(transactions):
        (folder / f"{number}.trace").write_bytes(encoded([*lines, one]))
    write_program(interpret(read_traces(folder)), folder / "all.program")
    return isoscope.load(folder / "all.program")


def accesses(found: History, number: int) -> list[tuple[str, str, Any]]:
    return [(str(one.kind), str(one.key), one.value) for one in found[number].operations]


def test_a_read_names_the_writer_of_the_version(tmp_path: Path) -> None:
    found = history(
        tmp_path,
        transaction("a", (3, 4), updated(120, 1, "x", (1, 2))),
        transaction("b", (7, 8), read(120, 1, (5, 6))),
        transaction("c", (9, 10), read(50, 2, (5, 6))),
    )
    assert accesses(found, 2) == [("read", "users/1", "T1")]
    assert accesses(found, 3) == [("read", "users/2", "initial")]


def test_a_writer_that_was_not_recorded_is_a_transaction_of_its_own(tmp_path: Path) -> None:
    found = history(tmp_path, transaction("a", (3, 4), read(130, 1, (1, 2))))
    assert accesses(found, 1) == [("read", "users/1", "outside_130")]
    assert isoscope.check(found, "serializable").holds("serializable")


def test_the_order_of_versions_follows_from_locks(tmp_path: Path) -> None:
    """The second writer waited: its write was answered only after the commit of the first was asked for."""
    found = history(
        tmp_path,
        transaction("a", (5, 20), updated(120, 1, "x", (1, 2))),
        transaction("b", (9, 10), updated(121, 1, "y", (1, 8))),
    )
    [order] = found.version_orders
    assert [*order.versions.values()] == [("T2", "T1")]
    assert found[1].session_id != found[2].session_id


def test_statements_that_overlap_outside_of_transactions_leave_the_order_open(tmp_path: Path) -> None:
    found = history(
        tmp_path,
        transaction("a", (1, 8), updated(120, 1, "x", (1, 8))),
        transaction("b", (2, 9), updated(121, 1, "y", (2, 9))),
    )
    assert found.version_orders == ()


def test_a_row_that_a_count_did_not_show_was_not_there(tmp_path: Path) -> None:
    """Two transactions that each count and then insert: a phantom."""
    found = history(
        tmp_path,
        transaction("a", (7, 8), counted("ada", (1, 2)), inserted(120, 1, "ada", (5, 6))),
        transaction("b", (11, 12), counted("ada", (3, 4)), inserted(121, 2, "ada", (9, 10))),
    )
    assert accesses(found, 1) == [("read", "users/2", "absent"), ("write", "users/1", "T1")]
    assert accesses(found, 2) == [("read", "users/1", "absent"), ("write", "users/2", "T2")]
    report = isoscope.check(found, "serializable")
    assert not report.holds("serializable")
    assert "run these transactions at SERIALIZABLE" in str(report)


def test_a_row_that_does_not_meet_the_condition_says_nothing(tmp_path: Path) -> None:
    found = history(
        tmp_path,
        transaction("a", (7, 8), counted("ada", (1, 2)), inserted(120, 1, "ada", (5, 6))),
        transaction("b", (11, 12), counted("bob", (3, 4)), inserted(121, 2, "bob", (9, 10))),
    )
    assert isoscope.check(found, "serializable").holds("serializable")


def test_a_change_that_was_executed_as_it_is_tells_its_row(tmp_path: Path) -> None:
    """Its row is known from its parameters, and its number from the change before it."""
    told = [*statement(UPDATE, ["ada", 1], (5, 6))[:5], 1, False, ""]
    found = history(
        tmp_path,
        transaction("a", (9, 10), counted("ada", (1, 2))),
        transaction("b", (7, 8), inserted(120, 1, "eve", (3, 4)), told),
        transaction("c", (13, 14), read(120, 1, (11, 12))),
    )
    assert accesses(found, 1) == [("write", "users/1", "T1"), ("write", "users/1", "T1")]
    assert accesses(found, 2) == [("read", "users/1", "absent")]
    assert accesses(found, 3) == [("read", "users/1", "T1")]


def test_an_update_that_makes_a_row_match_is_a_phantom_too(tmp_path: Path) -> None:
    found = history(
        tmp_path,
        transaction("a", (9, 10), counted("ada", (1, 2)), read(50, 2, (7, 8))),
        transaction("b", (5, 6), updated(120, 1, "ada", (3, 4)), updated(120, 2, "eve", (3, 4))),
    )
    assert accesses(found, 2)[0] == ("read", "users/1", "initial")


def test_a_row_that_was_seen_in_one_of_two_states_is_a_range_read_without_it(tmp_path: Path) -> None:
    """The read overlaps the insert of eve, so it saw no row or eve; ada would have been counted."""
    found = history(
        tmp_path,
        transaction("a", (20, 21), counted("ada", (8, 9))),
        transaction("b", (5, 10), inserted(120, 1, "eve", (3, 4))),
        transaction("c", (14, 15), updated(121, 1, "ada", (12, 13))),
    )
    [one] = found[3].operations
    assert (one.value, one.predicate) == (ONLY_ROW, '[:in "T2"]')
    assert not found.source.notes


def test_a_read_that_saw_one_of_two_states_is_judged(tmp_path: Path) -> None:
    """The count met no row or eve, and not ada: the two transactions did not see each other."""
    change = transaction("b", (5, 10), inserted(120, 1, "eve", (3, 4)))
    before = transaction("z", (1, 2), inserted(119, 2, "old", (0, 1)))
    reader = transaction("a", (20, 21), counted("ada", (8, 9)), updated(122, 2, "new", (10, 11)))
    skewed = transaction("c", (14, 15), read(119, 2, (7, 8)), updated(121, 1, "ada", (12, 13)))
    serial = transaction("c", (14, 15), updated(121, 1, "ada", (12, 13)))
    for other, expected in ((serial, "holds"), (skewed, "violated")):
        found = history(tmp_path, reader, change, other, before)
        assert found.counts["range-read"] == 1
        assert isoscope.check(found, "serializable").verdicts[0].outcome == expected


def test_states_that_the_clock_excludes_were_not_seen_either(tmp_path: Path) -> None:
    """Bob was written after the read was answered, and zoe was replaced before it began."""
    found = history(
        tmp_path,
        transaction("a", (30, 31), counted("ada", (8, 9))),
        transaction("b", (2, 3), inserted(119, 1, "zoe", (1, 2))),
        transaction("c", (5, 7), updated(120, 1, "eve", (4, 5))),
        transaction("d", (8, 11), updated(121, 1, "ida", (6, 8))),
        transaction("e", (14, 15), updated(122, 1, "ada", (12, 13))),
        transaction("f", (18, 19), updated(123, 1, "bob", (16, 17))),
    )
    [one] = found[6].operations
    assert (one.value, one.predicate) == (ONLY_ROW, '[:in "absent" "T1" "T4" "T5"]')


def test_a_row_that_was_not_written_for_certain_may_have_stayed_as_it_was(tmp_path: Path) -> None:
    """It is not known whether eve was committed, and the count may have met no row."""
    found = history(
        tmp_path,
        transaction("a", (5, 6), inserted(120, 1, "eve", (3, 4)), status="indeterminate"),
        transaction("b", (10, 11), counted("ada", (8, 9))),
        transaction("c", (14, 15), inserted(121, 1, "ada", (12, 13))),
    )
    [one] = found[2].operations
    assert (one.value, one.predicate) == (ONLY_ROW, '[:in "T3"]')


def test_a_read_may_have_met_a_version_of_a_writer_that_was_not_recorded(tmp_path: Path) -> None:
    """Another program inserted the row again, with a name that the reader did not count."""
    found = history(
        tmp_path,
        transaction("a", (3, 4), inserted(120, 1, "ada", (1, 2))),
        transaction("b", (7, 8), statement(DELETE, [1], (5, 6), ["120", "1"])),
        transaction("c", (14, 15), read(130, 1, (10, 11)), counted("ada", (12, 13))),
    )
    assert accesses(found, 3)[0] == ("read", "users/1", "outside_130")
    assert found[3].operations[1].predicate == '[:in "absent" "T1"]'
    assert isoscope.check(found, "serializable").holds("serializable")


def test_a_snapshot_may_be_older_than_the_first_statement_about_rows(tmp_path: Path) -> None:
    """Eve was inserted and deleted before the count, and the snapshot was taken before that."""
    reader = transaction("r", (16, 17), read(119, 2, (12, 13)), counted("eve", (14, 15)))
    others = [
        transaction("z", (1, 2), inserted(119, 2, "old", (0, 1))),
        transaction("a", (7, 8), inserted(120, 1, "eve", (4, 5)), updated(120, 2, "new", (5, 6))),
        transaction("b", (10, 11), statement(DELETE, [1], (8, 9), ["120", "1"])),
    ]
    for begin, expected in ((12, "violated"), (3, "holds")):
        found = history(tmp_path, *others, {**reader, "begin": begin})
        assert isoscope.check(found, "serializable").verdicts[0].outcome == expected


def test_a_row_whose_states_may_meet_the_condition_leaves_the_level_unknown(tmp_path: Path) -> None:
    found = history(
        tmp_path,
        transaction("a", (20, 21), counted("ada", (8, 9))),
        transaction("b", (5, 10), updated(120, 1, "eve", (3, 4))),
        transaction("c", (14, 15), updated(121, 1, "ada", (12, 13))),
    )
    report = isoscope.check(found, "serializable")
    assert str(report.verdicts[0].outcome) == "unknown"
    assert "it is not known whether rows that it did not show meet its condition" in str(report)


@pytest.mark.parametrize(
    ("sql", "rows", "reason"),
    [
        (FIRST, [["50", "7"]], "LIMIT may have hidden rows that it read"),
        (JOIN, [["50", "7", "50", "7"]], "a join may have hidden rows that it read"),
        (INSERT, [], "it inserted nothing, and does not show the row that it met"),
    ],
)
def test_rows_that_a_statement_may_have_hidden_leave_the_level_unknown(
    tmp_path: Path, sql: str, rows: list[list[Any]], reason: str
) -> None:
    parameters = ["ada"] if sql != INSERT else [1, "ada"]
    found = history(
        tmp_path,
        transaction("a", (3, 4), statement(sql, parameters, (1, 2), *rows)),
        transaction("b", (7, 8), inserted(120, 1, "ada", (5, 6))),
    )
    report = isoscope.check(found, "serializable")
    assert str(report.verdicts[0].outcome) == "unknown"
    assert reason in str(report)


def test_an_update_by_a_condition_saw_the_rows_that_it_did_not_change(tmp_path: Path) -> None:
    found = history(
        tmp_path,
        transaction("a", (9, 10), statement(UPDATE, ["x", 1], (1, 2))),
        transaction("b", (7, 8), inserted(120, 1, "ada", (5, 6))),
    )
    assert accesses(found, 2) == [("read", "users/1", "absent")]


def test_a_deleted_row_is_a_version_like_any_other(tmp_path: Path) -> None:
    found = history(
        tmp_path,
        transaction("a", (3, 4), statement(DELETE, [1], (1, 2), ["50", "1"])),
        transaction("b", (7, 8), statement(GET, [1], (5, 6))),
    )
    assert accesses(found, 1) == [("read", "users/1", "initial"), ("write", "users/1", "T1_deleted")]
    assert accesses(found, 2) == [("read", "users/1", "T1_deleted")]


def test_reads_of_aborted_transactions_are_left_out(tmp_path: Path) -> None:
    found = history(tmp_path, transaction("a", (3, 4), read(50, 1, (1, 2)), status="aborted"))
    assert accesses(found, 1) == []


def test_a_lost_update_is_explained_in_terms_of_the_program(tmp_path: Path) -> None:
    found = history(
        tmp_path,
        transaction("a", (7, 8), read(50, 1, (1, 2)), updated(120, 1, "x", (5, 6))),
        transaction("b", (11, 12), read(50, 1, (3, 4)), updated(121, 1, "y", (9, 10))),
    )
    text = str(isoscope.check(found, "snapshot-isolation"))
    assert "read users/1 = initial (app.py:2), wrote users/1 = T1 (line 4)" in text
    assert 'T1  app.py:4  UPDATE users SET name = %s WHERE id = %s ["x", 1]' in text
    assert "to prevent it: add FOR UPDATE to the SELECT at app.py:2" in text


def test_a_trace_that_is_cut_short_keeps_its_whole_records(tmp_path: Path) -> None:
    history(tmp_path, transaction("a", (3, 4), read(50, 1, (1, 2))))
    path = tmp_path / "0.trace"
    path.write_bytes(path.read_bytes() + encoded([{"transaction": "b"}])[:-1])
    assert len(read_traces(tmp_path)) == 1


def test_a_trace_that_was_changed_is_refused(tmp_path: Path) -> None:
    history(tmp_path, transaction("a", (3, 4), read(50, 1, (1, 2))))
    path = tmp_path / "0.trace"
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    with pytest.raises(isoscope.FormatError, match="the file was changed or damaged"):
        read_traces(tmp_path)


def test_parameters_of_all_types_are_kept_as_texts(tmp_path: Path) -> None:
    given = [Decimal("1.5"), date(2026, 1, 2), b"\x01", {"a": 1}]
    history(tmp_path, transaction("a", (3, 4), statement(GET, given, (1, 2), ["50", "1"])))
    [found] = read_traces(tmp_path)
    assert found.statements[0].parameters == ["1.5", "2026-01-02", "01", {"a": 1}]
