"""The public face of a history: transactions, sessions, lookup, places, evidence, equality."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, replace
from typing import TYPE_CHECKING, Any

import pytest

import isoscope
from isoscope import UNKNOWN, History, Initial, Recorder, Term, Timestamp
from isoscope.history import (
    EvidenceKind,
    Extent,
    Interval,
    Operation,
    OperationKind,
    Range,
    Source,
    Status,
    Transaction,
    VersionSource,
    label,
)
from isoscope.recorder import build

if TYPE_CHECKING:
    from pathlib import Path

    from isoscope.history import Scalar

VALUES, ORDER, CLOCK, CLIENT = EvidenceKind
ABSENT, PARTIAL, COMPLETE = Extent
READ, WRITE, APPEND = OperationKind.READ, OperationKind.WRITE, OperationKind.APPEND


def transaction(name: Scalar, *operations: Operation, session: Scalar = 1, **fields: Any) -> Transaction:
    return Transaction(number=0, id=name, session=0, session_id=session, operations=operations, **fields)


def write(key: Scalar, value: Scalar) -> Operation:
    return Operation(kind=WRITE, key=key, value=value)


def read(key: Scalar, value: Any) -> Operation:
    return Operation(kind=READ, key=key, value=value)


def append(key: Scalar, value: Scalar) -> Operation:
    return Operation(kind=APPEND, key=key, value=value)


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
def test_an_id_that_nobody_has_is_a_key_error(missing: Any) -> None:
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


def test_a_history_has_no_hash_and_says_what_it_is() -> None:
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


def committed(*, clock: bool = False, client: bool = False) -> Transaction:
    fields: dict[str, Any] = {}
    if clock:
        fields |= {"start": Timestamp(1), "commit": Timestamp(2)}
    if client:
        fields |= {"interval": Interval(1, 2)}
    return transaction((clock, client) == (True, True), **fields)


def named(name: Scalar, made: Transaction) -> Transaction:
    return replace(made, id=name)


APPENDS = [transaction(1, append("x", 1)), transaction(2, append("x", 2))]
NEVER_ENDED = transaction("n", status=Status.INDETERMINATE)


@pytest.mark.parametrize(
    ("kind", "extent", "transactions"),
    [
        (VALUES, COMPLETE, []),
        (VALUES, COMPLETE, [transaction(1, write("x", 1)), transaction(2, write("y", 1))]),
        (VALUES, COMPLETE, [transaction(1, write("x", 1), write("x", 1))]),
        (VALUES, PARTIAL, [transaction(1, write("x", 1)), transaction(2, write("x", 1))]),
        (ORDER, ABSENT, [transaction(1, write("x", 1)), transaction(2, write("x", 2))]),
        (ORDER, PARTIAL, [*APPENDS, transaction(3, read("x", ()))]),
        (ORDER, COMPLETE, [*APPENDS, transaction(3, read("x", (1,)))]),
        (CLOCK, ABSENT, [named(1, committed())]),
        (CLOCK, PARTIAL, [named(1, committed()), named(2, committed(clock=True))]),
        (CLOCK, PARTIAL, [transaction(1, start=Timestamp(1))]),
        (CLOCK, COMPLETE, [named(1, committed(clock=True)), NEVER_ENDED]),
        (CLIENT, ABSENT, [named(1, committed())]),
        (CLIENT, PARTIAL, [named(1, committed()), named(2, committed(client=True))]),
        (CLIENT, COMPLETE, [named(1, committed(client=True)), NEVER_ENDED]),
        (CLIENT, ABSENT, [transaction(1, interval=Interval(1, None))]),
        (CLIENT, COMPLETE, [transaction(1, positions=Interval(0, 3))]),
        (CLIENT, COMPLETE, [transaction(1, replace(write("x", 1), interval=Interval(1, 2)))]),
    ],
)  # fmt: skip
def test_evidence_is_absent_partial_or_complete(
    kind: EvidenceKind, extent: Extent, transactions: list[Transaction]
) -> None:
    evidence = build(transactions).evidence
    assert evidence[kind] is extent
    assert evidence[str(kind)] is extent
    assert (kind in evidence.present) == (extent is not ABSENT)


@pytest.mark.parametrize(
    ("source", "versions", "extent"),
    [
        (VersionSource.LOG, (1, 2), COMPLETE),
        (VersionSource.DECLARED, (1, 2), COMPLETE),
        (VersionSource.LOG, (1,), COMPLETE),
        (VersionSource.LOG, (), ABSENT),
    ],
)
def test_a_recorded_order_of_versions_is_evidence(
    source: VersionSource, versions: tuple[int, ...], extent: Extent
) -> None:
    transactions = [transaction(value, write("x", value)) for value in (1, 2)]
    history = build(transactions, versions=[(source, "x", value) for value in versions])
    assert history.evidence[ORDER] is extent


@pytest.mark.parametrize(
    ("initial", "repeated"),
    [
        (Initial(value=1), 2),
        (Initial(value=1, replaceable=True), 1),
        (Initial(), 1),
        (Initial(of_key={"y": 5}), 2),
    ],
)
def test_repeated_values_count_pairs_of_key_and_value_that_several_wrote(
    initial: Initial, repeated: int
) -> None:
    history = build(
        [
            transaction(1, write("x", 1), write("y", 5)),
            transaction(2, write("z", 2)),
            transaction(3, write("z", 2)),
        ],
        initial=initial,
    )
    assert history.evidence.repeated_values == repeated


def test_only_what_is_present_is_listed() -> None:
    one = replace(transaction(1, write("x", 1)), start=Timestamp(1), commit=Timestamp(2))
    evidence = build([one, transaction(2, write("x", 2))]).evidence
    assert evidence.present == (VALUES, CLOCK)
    assert [evidence[kind] for kind in EvidenceKind] == [COMPLETE, ABSENT, PARTIAL, ABSENT]
    with pytest.raises(ValueError, match="moon-phase"):
        evidence["moon-phase"]


# Equality.

WHOLE = transaction(
    1,
    replace(
        write("x", 1),
        interval=Interval(1, 2),
        table="t",
        columns=("c",),
        statement="update",
        tombstone=True,
        lock_mode="l",
        read_mode="r",
        predicate="p",
    ),
    read("y", (1, 2)),
    Operation(kind=OperationKind.RANGE_READ, value=Range(low=1, high=2, rows=(("x", 1),))),
    sequence=1,
    start=Timestamp(1, 1),
    commit=Timestamp(2, 2),
    interval=Interval(1, 9),
    positions=Interval(0, 1),
)


def test_equality_ignores_lines() -> None:
    elsewhere = replace(
        WHOLE, line=9, operations=tuple(replace(operation, line=9) for operation in WHOLE.operations)
    )
    history = build([elsewhere], source=Source(path="other.txt", format="plume"))
    assert history[1].line == 9
    assert history == build([WHOLE])
    assert history[1] == build([WHOLE])[1]


def changed(place: int, **fields: Any) -> Transaction:
    operations = list(WHOLE.operations)
    operations[place] = replace(operations[place], **fields)
    return replace(WHOLE, operations=tuple(operations))


@pytest.mark.parametrize(
    "other",
    [
        [],
        [WHOLE, transaction(2, sequence=2)],
        [replace(WHOLE, id="1")],
        [replace(WHOLE, session_id=2)],
        [replace(WHOLE, session_id=None)],
        [replace(WHOLE, status=Status.ABORTED)],
        [replace(WHOLE, sequence=2)],
        [replace(WHOLE, start=Timestamp(1, 0))],
        [replace(WHOLE, commit=None)],
        [replace(WHOLE, interval=Interval(1, None))],
        [replace(WHOLE, positions=None)],
        [replace(WHOLE, operations=WHOLE.operations[:2])],
        [changed(0, kind=OperationKind.INSERT)],
        [changed(0, key="z")],
        [changed(0, value=2)],
        [changed(0, value=True)],
        [changed(0, value=1.0)],
        [changed(0, value="1")],
        [changed(0, interval=None)],
        [changed(0, table=None)],
        [changed(0, columns=("c", "d"))],
        [changed(0, statement="insert")],
        [changed(0, lock_mode=None)],
        [changed(0, read_mode=None)],
        [changed(0, predicate=None)],
        [changed(0, tombstone=False)],
        [changed(1, value=(2, 1))],
        [changed(1, value=(1,))],
        [changed(1, value=UNKNOWN)],
        [changed(2, value=Range(low=1, high=3, rows=(("x", 1),)))],
        [changed(2, value=Range(low=1, high=2, rows=(("x", 2),)))],
        [changed(2, value=Range(low=1, high=2, tombstones=(("x", 1),)))],
    ],
)
def test_any_difference_in_what_was_recorded_makes_histories_differ(other: list[Transaction]) -> None:
    assert build([WHOLE]) != build(other)
    assert build(other) == build(other)


def test_who_shares_a_session_and_in_which_order_is_part_of_a_history() -> None:
    one, two = transaction(1), transaction(2)
    alone = [replace(one, session_id=None), replace(two, session_id=None)]
    assert build([one, two]) != build(alone)
    assert build([one, two]) != build([two, one])


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ({"initial": Initial(value=0)}, {"initial": Initial(value=None)}),
        ({"initial": Initial(value=0)}, {"initial": Initial(value=0, replaceable=True)}),
        ({"initial": Initial(of_key={"x": 1})}, {"initial": Initial(of_key={"x": 2})}),
        ({"initial": Initial(of_key={"x": 1})}, {"initial": Initial(of_key={"y": 1})}),
        ({"versions": [(VersionSource.LOG, "x", 1)]}, {"versions": []}),
        ({"versions": [(VersionSource.LOG, "x", 1)]}, {"versions": [(VersionSource.DECLARED, "x", 1)]}),
        ({"versions": [(VersionSource.LOG, "x", 1)]}, {"versions": [(VersionSource.LOG, "y", 1)]}),
    ],
)
def test_initial_values_and_version_orders_are_part_of_a_history(
    left: dict[str, Any], right: dict[str, Any]
) -> None:
    assert build([WHOLE], **left) == build([WHOLE], **left)
    assert build([WHOLE], **left) != build([WHOLE], **right)


def test_the_order_in_which_keys_get_their_initial_values_does_not_matter() -> None:
    one: dict[Scalar, Scalar] = {"x": 1, "y": 2}
    other: dict[Scalar, Scalar] = {"y": 2, "x": 1}
    assert build([], initial=Initial(of_key=one)) == build([], initial=Initial(of_key=other))


def test_a_history_differs_from_everything_that_is_none() -> None:
    assert build([]) != 5
    assert (build([]) == None) is False  # noqa: E711 - the comparison is the point


# Values.


def test_1_and_1_0_and_true_are_three_keys_and_three_values() -> None:
    ones: tuple[Scalar, ...] = (1, 1.0, True)
    history = build([transaction(1, *(write(one, one) for one in ones))])
    assert [type(key) for key in history.keys] == [int, float, bool]
    assert [type(o.value) for o in history[1].operations] == [int, float, bool]
    assert history.evidence.repeated_values == 0
    build([transaction(one) for one in ones])


@pytest.mark.parametrize(
    "value",
    [0, -1, 2**62, -(2**63), 2**64, 10**99, "", "\x00", "é\U0001f600", 0.0, -0.0, 1e300, float("inf"), True],
    ids=repr,
)
def test_every_scalar_comes_back_as_itself(value: Scalar) -> None:
    [operation] = build([transaction(1, write("x", value))])[1].operations
    assert (operation.value, type(operation.value)) == (value, type(value))
    assert str(operation.value) == str(value)


def test_the_value_that_differs_from_itself_is_still_one_value() -> None:
    nan = float("nan")
    history = build([transaction(1, write("x", nan)), transaction(2, read("x", float("nan")))])
    assert isoscope.check(history, ["pl-2"]).weakest_violated == ()
    assert history == build([transaction(1, write("x", nan)), transaction(2, read("x", nan))])


def test_a_term_is_known_by_its_text() -> None:
    assert Term(":x") == Term(":x")
    assert Term(":x") != Term(":y")
    assert Term(":x") != ":x"
    assert hash(Term(":x")) == hash(Term(":x"))
    assert sorted([Term("b"), Term("a")]) == [Term("a"), Term("b")]
    assert (str(Term(":x")), repr(Term(":x")), Term(":x").text) == (":x", 'Term(":x")', ":x")


@pytest.mark.parametrize("original", [Term(":x"), UNKNOWN], ids=repr)
def test_terms_and_the_unknown_survive_copy_and_pickle(original: object) -> None:
    for twin in (copy.copy(original), copy.deepcopy(original), pickle.loads(pickle.dumps(original))):
        assert twin == original
        assert type(twin) is type(original)


def test_there_is_one_unknown() -> None:
    assert repr(UNKNOWN) == "UNKNOWN"
    assert copy.deepcopy(UNKNOWN) is UNKNOWN
    assert pickle.loads(pickle.dumps(UNKNOWN)) is UNKNOWN
    [operation] = build([transaction(1, read("x", UNKNOWN))])[1].operations
    assert operation.value is UNKNOWN


def test_a_nil_read_of_a_list_is_the_empty_list() -> None:
    history = build([transaction(1, append("x", 1)), transaction(2, read("x", None), read("y", None))])
    assert [o.value for o in history[2].operations] == [(), None]


@pytest.mark.parametrize("name", isoscope.__all__)
def test_every_public_name_is_there_and_listed(name: str) -> None:
    assert getattr(isoscope, name) is not None
    assert name in dir(isoscope)


def test_a_name_that_is_not_public_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'isoscope' has no attribute 'cheque'"):
        isoscope.cheque  # noqa: B018


def test_history_is_the_class_of_what_load_and_record_return() -> None:
    assert isinstance(Recorder().history(), History)
