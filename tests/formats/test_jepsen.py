"""Jepsen histories: events, their values in EDN, the log beside them."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import edn_format
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isoscope import formats
from isoscope.errors import FormatError
from isoscope.history import (
    UNKNOWN,
    Initial,
    Interval,
    Operation,
    OperationKind,
    Range,
    Status,
    Term,
    Transaction,
)
from isoscope.recorder import Recorder, build
from tests.formats.forms import EDN, FORMS, LOG
from tests.strategies import TEXTS

if TYPE_CHECKING:
    from pathlib import Path

    from hypothesis.strategies import SearchStrategy

    from isoscope.history import Scalar


def _scalars() -> SearchStrategy[str]:
    """Texts of EDN scalars that the other reader knows, too."""
    names = st.from_regex(r"[a-z][a-z0-9*!?-]{0,4}", fullmatch=True)
    strings = TEXTS.map(edn_format.dumps)
    return st.one_of(
        st.integers(-(2**70), 2**70).map(str),
        st.integers(0, 99).map(lambda number: f"{number}N"),
        st.floats(allow_nan=False, allow_infinity=False).map(repr).filter(lambda text: "." in text),
        st.sampled_from(["nil", "true", "false", "1.50M", "22/7", "\\a", "\\newline", "+7", "-0"]),
        names.filter(lambda name: name not in {"nil", "true", "false"}),
        names.map(lambda name: f":{name}"),
        names.map(lambda name: f":ns/{name}"),
        strings,
    )


def _composites(members: SearchStrategy[str]) -> SearchStrategy[str]:
    gaps = st.sampled_from([" ", ", ", "\n", " ; said\n", " #_ dropped ", "\t,,"])

    def between(brackets: str) -> SearchStrategy[str]:
        opener, closer = brackets.split()
        joined = st.tuples(st.lists(members, max_size=3, unique=True), gaps)
        return joined.map(lambda parts: opener + parts[1].join(parts[0]) + closer)

    keys = st.lists(st.tuples(st.integers(0, 9), members), max_size=3, unique_by=lambda entry: entry[0])
    maps = keys.map(lambda entries: "{" + " ".join(f"{key} {value}" for key, value in entries) + "}")
    return between("[ ]") | between("( )") | maps


FORMS_OF_EDN = st.recursive(_scalars(), _composites, max_leaves=8)


@given(text=FORMS_OF_EDN)
def test_a_value_is_read_as_by_another_reader_of_edn(text: str) -> None:
    history = FORMS["jepsen"].read(f"{{:type :ok, :value [[:w {text}  {text}]]}}".encode())
    [operation] = next(iter(history)).operations
    assert _seen(operation.key) == _seen(operation.value) == _shape(edn_format.loads(text))


@given(texts=st.lists(FORMS_OF_EDN, max_size=3))
def test_a_list_is_read_as_by_another_reader_of_edn(texts: list[str]) -> None:
    history = FORMS["jepsen"].read(f"{{:type :ok, :value [[:r 1 [{' '.join(texts)}]]]}}".encode())
    [operation] = next(iter(history)).operations
    assert isinstance(operation.value, tuple)
    assert [_seen(element) for element in operation.value] == [
        _shape(edn_format.loads(text)) for text in texts
    ]


def _seen(value: Any) -> object:
    """Our value as the other reader sees it: a term is known by its text."""
    return _shape(edn_format.loads(value.text) if isinstance(value, Term) else value)


def _shape(value: Any) -> object:
    """`value` with its type, so that 1, 1.0 and true are three."""
    if isinstance(value, edn_format.ImmutableDict):
        return "map", {repr(_shape(key)): _shape(value[key]) for key in value}
    if isinstance(value, (tuple, edn_format.ImmutableList)):
        return type(value).__name__, [_shape(element) for element in value]
    return type(value).__name__, value


def test_a_log_beside_a_history_gives_the_order_of_versions(tmp_path: Path) -> None:
    (tmp_path / "run.edn").write_bytes(EDN)
    (tmp_path / "run.log").write_bytes(LOG)
    [order] = formats.load(tmp_path / "run.edn").version_orders
    assert (order.source, order.versions) == ("log", {1: (2,)})


def test_a_mistake_in_a_log_names_the_log(tmp_path: Path) -> None:
    (tmp_path / "run.edn").write_bytes(EDN)
    log = tmp_path / "run.log"
    log.write_bytes(LOG + b'{"type":2300,"tid":"1","data":{"_key":"1","a":1,"b":2}}\n')
    with pytest.raises(FormatError) as caught:
        formats.load(tmp_path / "run.edn")
    assert str(caught.value) == (
        f"{log}:4:31: expected a row with the attribute `rwAttr`, or with only one of its own, "
        'found `{"_key":"1","a":1,"b":2}`\n'
        '    4 | {"type":2300,"tid":"1","data":{"_key":"1","a":1,"b":2}}\n'
        "      |                               ^\n"
        "\n"
        "hint: which attribute holds the value? Rename it to `rwAttr`"
    )


def test_a_transaction_that_never_completed_is_indeterminate_and_its_reads_are_unknown() -> None:
    history = FORMS["jepsen"].read(b"{:type :invoke, :process 0, :value [[:r 1 nil] [:w 1 2]]}")
    [transaction] = history
    assert transaction.status is Status.INDETERMINATE
    assert [operation.value for operation in transaction.operations] == [UNKNOWN, 2]


OVERLAPPING: list[list[tuple[int | None, Interval]]] = [
    [(1, Interval(0, 10)), (1, Interval(5, 15))],
    [(1, Interval(0, 10)), (1, Interval(10, 15))],
    [(None, Interval(0, 10)), (None, Interval(5, 15))],
]


@pytest.mark.parametrize("spans", OVERLAPPING)
@pytest.mark.parametrize("field", ["interval", "positions"])
def test_no_history_is_written_that_cannot_be_read(
    spans: list[tuple[int | None, Interval]], field: str
) -> None:
    """A process runs one transaction at a time, and an invocation needs a process."""
    write = Operation(kind=OperationKind.WRITE, key=1, value=1)
    plain = [
        Transaction(number=0, id=f"t{place}", session=0, session_id=name, operations=(write,))
        for place, (name, _) in enumerate(spans)
    ]
    transactions = [
        replace(transaction, interval=span) if field == "interval" else replace(transaction, positions=span)
        for transaction, (_, span) in zip(plain, spans, strict=True)
    ]
    history = build(transactions, initial=Initial(value=None))
    again = FORMS["jepsen"].read(FORMS["jepsen"].write(history))
    assert [transaction.id for transaction in again] == ["t0", "t1"]
    assert len(FORMS["jepsen"].losses(history)) == 1
    assert FORMS["jepsen"].losses(build(plain[:1], initial=Initial(value=None))) == ()


def test_a_history_recorded_with_a_clock_keeps_its_order_of_events() -> None:
    ticks = iter(range(100))
    recorder = Recorder(initial=None, clock=lambda: next(ticks))
    with recorder.transaction(session=1) as first, recorder.transaction(session=2) as second:
        first.write("x", 1)
        second.read("x", 1)
    history = recorder.history()
    again = FORMS["jepsen"].read(FORMS["jepsen"].write(history))
    assert [transaction.interval for transaction in again] == [
        transaction.interval for transaction in history
    ]
    assert [transaction.positions for transaction in again] == [(1, 2), (0, 3)]


def test_a_name_that_ends_in_jsonl_is_written_as_lines(tmp_path: Path) -> None:
    history = FORMS["jepsen-json"].read(FORMS["jepsen-json"].sample)
    named, suffixed = tmp_path / "history.jsonl", tmp_path / "history.jepsen.jsonl.gz"
    formats.save(history, named, format="jepsen")
    formats.save(history, suffixed)
    lines = named.read_text().splitlines()
    assert [json.loads(line)["type"] for line in lines] == ["invoke", "ok"]
    for path in (named, suffixed):
        assert formats.load(path).source.format == "jepsen"
        assert formats.load(path) == history


PREDICATES = """{:type :ok, :process 0, :f :init, :value {:x 0, :y 3}}
{:type :ok, :process 1, :f :txn, :value [[:rp [:mod 2 1] {:y 3}] [:delete :y] [:insert :z 4] [:rp :true nil]]}
{:type :info, :process 2, :f :txn, :value [[:rp [:= 4] {}] [:rp [:= 3] nil] [:delete :x nil]]}
"""


def test_predicate_reads_inserts_and_deletes_are_operations() -> None:
    history = FORMS["jepsen"].read(PREDICATES.encode())
    x, y, z = Term(":x"), Term(":y"), Term(":z")
    insert, delete = OperationKind.INSERT, OperationKind.DELETE
    assert [transaction.operations for transaction in history] == [
        (
            Operation(kind=insert, key=x, value=0, statement="init"),
            Operation(kind=insert, key=y, value=3, statement="init"),
        ),
        (
            predicate_read("[:mod 2 1]", (y, 3)),
            Operation(kind=delete, key=y),
            Operation(kind=insert, key=z, value=4),
            predicate_read(":true"),
        ),
        (predicate_read("[:= 4]"), Operation(kind=delete, key=x)),
    ]
    assert history.notes == {"predicate reads whose rows are unknown, left out": 1}


def predicate_read(predicate: str, *rows: tuple[Scalar, Scalar]) -> Operation:
    return Operation(kind=OperationKind.RANGE_READ, value=Range(rows=rows), predicate=predicate)


def test_a_first_transaction_that_never_completed_is_one_all_the_same() -> None:
    history = FORMS["jepsen"].read(b"{:type :invoke, :process 0, :value {:x 0}, :f :init}")
    [transaction] = history
    assert transaction.status is Status.INDETERMINATE
    assert [operation.statement for operation in transaction.operations] == ["init"]
    assert FORMS["jepsen"].read(FORMS["jepsen"].write(history)) == history


def test_rows_that_differ_from_the_invocation_are_no_change_of_the_transaction() -> None:
    history = FORMS["jepsen"].read(
        b"{:type :invoke, :process 0, :value [[:rp :true nil]]}\n"
        b"{:type :ok, :process 0, :value [[:rp :true {:x 1}]]}\n"
        b"{:type :invoke, :process 0, :value [[:rp :true nil]]}\n"
        b"{:type :ok, :process 0, :value [[:rp [:= 1] {:x 1}]]}\n"
    )
    assert history.notes == {"transactions whose completion differs from their invocation": 1}


def test_predicates_are_written_as_they_are_read() -> None:
    history = FORMS["jepsen"].read(PREDICATES.encode())
    assert FORMS["jepsen"].write(history).decode() == (
        "{:type :ok, :f :init, :value {:x 0, :y 3}, :process 0, :index 0}\n"
        "{:type :ok, :f :txn, :value "
        "[[:rp [:mod 2 1] {:y 3}] [:delete :y] [:insert :z 4] [:rp :true {}]], :process 1, :index 1}\n"
        "{:type :info, :f :txn, :value [[:rp [:= 4] {}] [:delete :x]], :process 2, :index 2}\n"
    )
    lines = FORMS["jepsen-json-lines"].write(history).decode().splitlines()
    assert [json.loads(line)["value"] for line in lines] == [
        [[":x", 0], [":y", 3]],
        [["rp", ["mod", 2, 1], [[":y", 3]]], ["delete", ":y"], ["insert", ":z", 4], ["rp", "true", []]],
        [["rp", ["=", 4], []], ["delete", ":x"]],
    ]
