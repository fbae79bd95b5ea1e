"""The public face of a history: transactions, sessions, lookup, places."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from typing import TYPE_CHECKING, Any

import pytest

import isoscope
from isoscope import UNKNOWN, Recorder, Term
from isoscope.history import (
    Operation,
    OperationKind,
    Source,
    Status,
    label,
)
from isoscope.recorder import build
from tests.small_transactions import READ, WRITE, append, read, transaction, write

if TYPE_CHECKING:
    from pathlib import Path

    from isoscope.history import Scalar

TWO = [transaction(7, write("x", 1)), transaction("b", read("x", 1), read("y", None), session="s")]


def test_iteration_gives_transactions_in_the_order_of_the_input() -> None:
    history = build(TWO)
    assert len(history) == 2
    assert [(t.number, t.id, t.session, t.session_id) for t in history] == [(0, 7, 0, 1), (1, "b", 1, "s")]
    assert [[(o.kind, o.key, o.value) for o in t.operations] for t in history] == [
        [(WRITE, "x", 1)],
        [(READ, "x", 1), (READ, "y", None)],
    ]
    assert list(history) == list(history)


def test_a_transaction_is_found_by_its_original_id() -> None:
    history = build(TWO)
    assert history["b"] == history.transaction(1)
    assert 7 in history
    assert "b" in history


@pytest.mark.parametrize("missing", [0, 1, "7", 7.0, None, 2**70, Term("b"), UNKNOWN])
def test_an_id_of_no_transaction_is_a_key_error(missing: Any) -> None:
    history = build(TWO)
    assert missing not in history
    with pytest.raises(KeyError) as caught:
        history[missing]
    assert caught.value.args == (missing,)


def test_an_id_of_no_possible_type_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="found list"):
        build(TWO)[[7]]  # type: ignore[index]


@pytest.mark.parametrize("number", [2, 10**6])
def test_a_number_beyond_the_last_transaction_is_an_index_error(number: int) -> None:
    with pytest.raises(IndexError):
        build(TWO).transaction(number)


def test_sessions_list_their_transactions_in_session_order() -> None:
    history = build([*TWO, transaction(9)])
    assert [(s.id, s.transactions) for s in history.sessions] == [(1, (0, 2)), ("s", (1,))]


def test_keys_stand_in_the_order_of_first_appearance() -> None:
    assert build(TWO).keys == ("x", "y")


def test_counts_add_up() -> None:
    marked = transaction("m", Operation(kind=OperationKind.BEGIN), status=Status.ABORTED)
    history = build([*TWO, marked, transaction("i", append("z", 1), status=Status.INDETERMINATE)])
    counts = history.counts
    assert {name: count for name, count in counts.items() if count} == {
        "sessions": 2, "transactions": 4, "operations": 5, "keys": 3,
        "committed": 2, "aborted": 1, "indeterminate": 1,
        "read": 2, "write": 1, "append": 1, "begin": 1,
    }  # fmt: skip
    assert set(counts) >= {str(kind) for kind in OperationKind} | {str(status) for status in Status}


def test_an_empty_history_is_a_history() -> None:
    history = Recorder().history()
    assert len(history) == 0
    assert list(history) == []
    assert history.sessions == ()
    assert history.keys == ()
    assert isoscope.check(history).weakest_violated == ()


def test_records_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        build(TWO)["b"].id = 8  # type: ignore[misc]


def test_a_history_has_no_hash_and_a_readable_name() -> None:
    history = build(TWO)
    with pytest.raises(TypeError, match="unhashable"):
        hash(history)
    assert repr(history) == "<History <memory>: 2 sessions, 2 transactions, 3 operations>"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (7, "T7"),
        (-1, "T-1"),
        ("T7", "T7"),
        (Term(":a"), ":a"),
        (True, "True"),
        (2.5, "2.5"),
        ("\x1b[31m\u202e", "'\\x1b[31m\\u202e'"),
    ],
)
def test_messages_call_a_transaction_by_its_original_id(name: Scalar, expected: str) -> None:
    assert label(name) == transaction(name).label == expected


# Places.


def test_a_place_in_one_file_is_path_and_line(tmp_path: Path) -> None:
    path = tmp_path / "h.txt"
    path.write_text("w(1,1,1,1)\n\nr(1,1,2,2)\n")
    history = isoscope.load(path)
    [operation] = history[2].operations
    assert operation.line == 3
    assert history.source.place(operation.line) == f"{path}:3"
    assert history.source.format == "plume"


def test_a_place_in_a_directory_names_the_file_that_holds_the_line(tmp_path: Path) -> None:
    for name, text in (
        ("1.txt", "w(1,1,1,1)\nw(2,1,1,1)\n"),
        ("2.txt", "r(1,1,2,2)"),
        ("3.txt", "r(2,1,3,3)\n"),
    ):
        (tmp_path / name).write_text(text)
    history = isoscope.load(tmp_path)
    places = [history.source.place(o.line) for t in history for o in t.operations]
    assert places == [f"{tmp_path}/{place}" for place in ("1.txt:1", "1.txt:2", "2.txt:1", "3.txt:1")]


def test_where_no_line_is_known_the_place_is_the_path() -> None:
    assert Source(path="h.txt").place(None) == "h.txt"
    assert Source(path="h.txt").place(0) == "h.txt"


def test_a_place_in_an_input_that_is_no_text_is_a_byte_of_its_file() -> None:
    source = Source(path="logs", files=((1, "T1.log"), (10, "T2.log"), (10, "T3.log")), is_text=False)
    assert source.place(None) == "logs"
    assert source.place(9) == "T1.log: byte 8"
    assert source.place(10) == "T3.log: byte 0"
    assert build(TWO)["b"].line is None


# Evidence.
