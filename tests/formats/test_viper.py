"""Logs of Viper's clients: micro-operations, sessions, initial values, and what a mistake is told as."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from isoscope import formats
from isoscope.checkers import check
from isoscope.errors import FormatError
from isoscope.history import Initial, Interval, Range
from isoscope.levels import Level
from isoscope.verdict import Outcome
from tests.formats.forms import READ_ONLY

if TYPE_CHECKING:
    from pathlib import Path

    from isoscope.history import Operation

JSON, EDN = READ_ONLY["viper"], READ_ONLY["viper-edn"]


def operations(micro: str) -> tuple[Operation, ...]:
    [transaction] = JSON.read(f'{{"value":[{micro}]}}'.encode())
    return transaction.operations


@pytest.mark.parametrize(
    ("micro", "expected"),
    [
        ('["r",1,5]', [("read", 1, 5, False)]),
        ('["r",1,5,true]', [("read", 1, 5, True)]),
        ('["r",1,null]', [("read", 1, 0, False)]),
        ('["r",1]', [("read", 1, 0, False)]),
        ('["r","k",[1,2]]', [("read", "k", (1, 2), False)]),
        ('["r",1,[]]', [("read", 1, (), False)]),
        ('["w",1,5]', [("write", 1, 5, False)]),
        ('["w",1,5,true]', [("write", 1, 5, False)]),
        ('["w",1,5,false]', []),
        ('["append",1,5]', [("append", 1, 5, False)]),
        ('["i",1,5]', [("insert", 1, 5, False)]),
        ('["i",1,5,4,true,true]', [("read", 1, 4, True), ("insert", 1, 5, False)]),
        ('["i",1,5,4,false,false,true,"w"]', [("read", 1, 4, False)]),
        ('["d",1,5,4,false,true]', [("read", 1, 4, False), ("delete", 1, 5, True)]),
        ('["d",1,5,4,true,false,true]', [("read", 1, 4, True)]),
    ],
)
def test_a_micro_operation_becomes_its_operations(micro: str, expected: list[tuple[Any, ...]]) -> None:
    found = operations(micro)
    assert [(o.kind.value, o.key, o.value, o.tombstone) for o in found] == expected


@pytest.mark.parametrize(
    ("micro", "expected"),
    [
        ('["range",1,4,[{"id":1,"sk":1,"val":5}],[]]', Range(low=1, high=4, rows=((1, 5),))),
        ('["range","nil",null,[],[]]', Range()),
        ('["range",1,"nil",[],[{"id":2,"val":6}]]', Range(low=1, tombstones=((2, 6),))),
        ('["range",-9223372036854775808,9223372036854775807,[]]', Range()),
        (
            '["range",1,4,[{"id":3,"val":5},{"id":1,"val":6}],[{"id":2,"val":0}],true]',
            Range(low=1, high=4, rows=((3, 5), (1, 6)), tombstones=((2, 0),)),
        ),
    ],
)
def test_a_range_read_keeps_bounds_rows_and_tombstones(micro: str, expected: Range) -> None:
    [operation] = operations(micro)
    assert operation.value == expected


def test_rows_that_come_twice_and_failed_writes_are_counted() -> None:
    rows = '[{"id":1,"val":5},{"id":1,"val":5}]'
    history = JSON.read(f'{{"value":[["range",1,4,{rows},{rows}],["w",1,2,false]]}}'.encode())
    assert history.notes == {
        "writes that did not succeed, left out": 1,
        "rows that a range read returned twice": 3,
    }


def test_the_initial_transaction_gives_initial_values() -> None:
    history = JSON.read(
        b'{"value":[["range","nil","nil",[{"id":1,"val":7}],[{"id":2,"val":8}]]],"isInitial":true}\n'
        b'{"value":[["r",1,7,false],["r",3,0,false]]}'
    )
    assert history.initial == Initial(value=0, of_key={1: 7, 2: 8})
    assert [transaction.id for transaction in history] == [0]
    written = JSON.read(b'{"value":[["w",1,7,true],["w",2,null,true]],"isInitial":true,"isFinal":false}')
    assert written.initial == Initial(value=0, of_key={1: 7, 2: 0})


def test_without_an_initial_transaction_the_initial_values_are_unknown() -> None:
    history = JSON.read(
        b'{"value":[["r",1,77,false],["w",1,5,true]]}\n{"value":[["r",1,77,false],["r",2,0,false]]}'
    )
    assert history.initial == Initial()
    [verdict] = check(history, [Level.PL_2]).verdicts
    assert verdict.outcome is Outcome.HOLDS
    second = JSON.read(b'{"value":[["r",1,77,false]]}\n{"value":[["r",1,78,false]]}')
    [verdict] = check(second, [Level.PL_2]).verdicts
    assert verdict.anomaly_counts == {"thin-air-read": 1}


def test_times_are_intervals() -> None:
    [transaction] = JSON.read(
        b'{"preBeginTS":1,"postBeginTS":2,"preCommitTS":3,"postCommitTS":4,'
        b'"value":[{"opType":"w","key":1,"value":5,"succ":true,"reqTS":2,"resTS":-1}]}'
    )
    assert transaction.interval == Interval(1, 4)
    assert transaction.operations[0].interval == Interval(2, None)


def test_events_that_are_not_ok_are_left_out_and_counted() -> None:
    history = EDN.read(
        b"{:type :invoke, :value [[:w 1 2]]}{:type :info, :value nil}{:type :ok, :value [[:w 1 2]]}"
    )
    assert len(history) == 1
    assert history.notes == {"events that are not `:ok`, left out": 2}


def test_a_file_is_a_session_unless_events_name_processes(tmp_path: Path) -> None:
    for name in ("J1.log", "J2.log", "Jep1.log", "notes.txt"):
        (tmp_path / name).write_text('{"value":[["w",1,5,true]]}\n' * 2)
    history = formats.load(tmp_path)
    assert history.source.format == "viper"
    assert [session.transactions for session in history.sessions] == [(0, 1), (2, 3)]
    processes = EDN.read(b"{:process 5 :value [[:w 1 2]]}{:process :nemesis :value [[:w 1 3]]}")
    assert [session.id for session in processes.sessions] == [5, 0]


def test_histories_of_jepsen_are_not_taken_for_logs_of_viper(tmp_path: Path) -> None:
    for text in (
        '{"type":"ok","process":0,"value":[["r",1,true],["w","d",false]]}',
        "{:type :ok, :process 0, :value [[:r 1 true] [:r 2 [3 true]]]}",
    ):
        path = tmp_path / "history"
        path.write_text(text)
        assert formats.load(path).source.format == "jepsen"


MISTAKES = {
    "no value": ('{"isInitial":true}', "PATH:1:1: expected a transaction with its `value`, found "),
    "another kind": (
        '{"value":[["x",1,2]]}',
        "PATH:1:11: expected a micro-operation that is `r`, `w`, `i`, `d`, `range` or `append`, found ",
    ),
    "no operation": (
        '{"value":[1]}',
        'PATH:1:11: expected a micro-operation such as `["w",1,5,true]`, found ',
    ),
    "a list as key": (
        '{"value":[["r",[1],2]]}',
        "PATH:1:11: expected a micro-operation with a scalar as its key",
    ),
    "a number as flag": (
        '{"value":[["w",1,2,3]]}',
        "PATH:1:11: expected a micro-operation whose flags are true or false, found ",
    ),
    "too many parts": (
        '{"value":[["r",1,2,true,5]]}',
        "PATH:1:11: expected a micro-operation without further parts, found ",
    ),
    "rows that are none": (
        '{"value":[["range",1,2,[3],[]]]}',
        "PATH:1:11: expected a range read with its rows in brackets, found ",
    ),
    "a row without a value": (
        '{"value":[["range",1,2,[{"id":1}],[]]]}',
        "PATH:1:25: expected a row with `id` and `val`, found ",
    ),
    "two initial transactions": (
        '{"value":[],"isInitial":true}\n{"value":[],"isInitial":true}',
        "PATH:2: expected one initial transaction, found a second one: the first is on line 1",
    ),
    "an initial append": (
        '{"value":[["append",1,2]],"isInitial":true}',
        "PATH:1: expected an initial transaction of writes, reads or range reads, found an append\n",
    ),
    "EDN without a value": ("{:type :ok}", "PATH:1:1: expected a transaction with its `:value`, found "),
    "EDN of another kind": (
        "{:value [[:x 1 2]]}",
        "PATH:1:10: expected a micro-operation that is `r`, `w`, `i`, `d`, `range` or `append`, found ",
    ),
}


@pytest.mark.parametrize(("text", "message"), MISTAKES.values(), ids=MISTAKES.keys())
def test_a_mistake_is_told_where_it_stands(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "history"
    path.write_text(text)
    with pytest.raises(FormatError) as caught:
        formats.load(path, format="viper")
    assert str(caught.value).replace(str(path), "PATH").startswith(message)
