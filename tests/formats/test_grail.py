"""Graphs of GRAIL: the history that is made of them, and what a contradiction is told as."""

# ruff: noqa: E501 - messages stand as they are printed

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from isoscope import formats
from isoscope.errors import FormatError
from isoscope.history import EvidenceKind, Extent, Initial, Status, VersionSource
from tests.formats.forms import READ_ONLY

if TYPE_CHECKING:
    from pathlib import Path

    from isoscope.history import History

FORM = READ_ONLY["grail"]


def dependency(start: str, end: str, kind: str) -> dict[str, str]:
    def owner(event: str) -> str:
        return "txn/" + event.partition("/")[2].rpartition(",")[0]

    return {"_from": owner(start), "_to": owner(end), "from_evt": start, "to_evt": end, "type": kind}


def read(*edges: tuple[str, str, str]) -> History:
    return FORM.read(json.dumps([dependency(*edge) for edge in edges]).encode())


def told(history: History) -> dict[object, list[tuple[str, object, object]]]:
    return {t.id: [(o.kind.value, o.key, o.value) for o in t.operations] for t in history}


def test_a_history_is_made_that_has_the_dependencies() -> None:
    history = read(
        ("r_evt/1,1", "w_evt/2,1", "rw"),
        ("w_evt/2,1", "r_evt/3,2", "wr"),
        ("w_evt/2,1", "w_evt/3,1", "ww"),
        ("r_evt/4,1", "w_evt/3,1", "rw"),
        ("w_evt/4,2", "r_evt/1,5", "wr"),
    )
    assert told(history) == {
        1: [("read", 0, 0), ("read", 1, 1)],
        2: [("write", 0, 1)],
        3: [("write", 0, 2), ("read", 0, 1)],
        4: [("read", 0, 1), ("write", 1, 1)],
    }
    assert history.initial == Initial(value=0)
    [order] = history.version_orders
    assert order.source is VersionSource.DECLARED
    assert order.versions == {0: (1, 2), 1: (1,)}
    assert history.evidence[EvidenceKind.VERSION_ORDER] is Extent.COMPLETE
    assert {transaction.status for transaction in history} == {Status.COMMITTED}
    assert {session.id for session in history.sessions} == {None}


def test_a_read_that_saw_one_version_before_another_orders_them() -> None:
    history = read(("w_evt/1,1", "r_evt/2,1", "wr"), ("r_evt/2,1", "w_evt/3,1", "rw"))
    assert told(history) == {1: [("write", 0, 1)], 2: [("read", 0, 1)], 3: [("write", 0, 2)]}


def test_transactions_may_run_in_a_circle() -> None:
    history = read(("r_evt/1,1", "w_evt/2,2", "rw"), ("r_evt/2,1", "w_evt/1,2", "rw"))
    assert told(history) == {
        1: [("read", 0, 0), ("write", 1, 1)],
        2: [("read", 1, 0), ("write", 0, 1)],
    }


def test_names_that_are_no_numbers_stay_texts() -> None:
    history = read(("w_evt/a,b,1", "r_evt/01,2", "wr"))
    assert [transaction.id for transaction in history] == ["a,b", "01"]


def test_a_directory_holds_one_graph(tmp_path: Path) -> None:
    (tmp_path / "txn7.json").write_text('[{"_key":"1","_id":"txn/1"},{"_key":"2"},{"_id":"txn/9"}]')
    edges = [dependency("w_evt/1,1", "r_evt/2,1", "wr"), {"_from": "txn/1", "_to": "txn/9", "type": "rt"}]
    (tmp_path / "dep7.json").write_text(json.dumps(edges))
    (tmp_path / "other.txt").write_text("not read")
    history = formats.load(tmp_path)
    assert history.source.format == "grail"
    assert told(history) == {1: [("write", 0, 1)], 2: [("read", 0, 1)], 9: []}
    assert history.notes == {"dependencies that are not wr, ww or rw, left out": 1}
    (tmp_path / "dep8.json").write_text("[]")
    with pytest.raises(FormatError) as caught:
        formats.load(tmp_path)
    assert str(caught.value) == (
        f"{tmp_path}: expected one graph: a txn file and a dep file, found 1 txn files and 2 dep files\n\n"
        "hint: put each pair into a folder of its own, or name one dep file"
    )


CONTRADICTIONS = {
    "two writers": (
        [("w_evt/1,1", "r_evt/2,1", "wr"), ("w_evt/3,1", "r_evt/2,1", "wr")],
        "expected one writer of what event 1 of transaction 2 read, found event 1 of transaction 1 and event 1 "
        "of transaction 3",
    ),
    "a circle": (
        [("w_evt/1,1", "w_evt/2,1", "ww"), ("w_evt/2,1", "w_evt/1,1", "ww")],
        "expected versions of each key in one order, found event 1 of transaction 1, which comes before itself",
    ),
    "two versions just before a write": (
        [
            ("a_evt/1,1", "r_evt/4,1", "wr"),
            ("a_evt/2,1", "r_evt/5,1", "wr"),
            ("r_evt/4,1", "a_evt/3,1", "rw"),
            ("r_evt/5,1", "a_evt/3,1", "rw"),
        ],
        "expected event 1 of transaction 5 to see the version just before the write, found that of event 1 of "
        "transaction 2, where another read saw that of event 1 of transaction 1",
    ),
    "a version between": (
        [
            ("w_evt/1,1", "w_evt/2,1", "ww"),
            ("w_evt/2,1", "w_evt/3,1", "ww"),
            ("w_evt/1,1", "r_evt/4,1", "wr"),
            ("r_evt/4,1", "w_evt/3,1", "rw"),
        ],
        "expected event 1 of transaction 4 to see the version just before the write, found version 1, and a "
        "dependency on version 3",
    ),
    "two kinds of one event": (
        [("w_evt/1,1", "r_evt/2,1", "wr"), ("w_evt/1,2", "w_evt/2,1", "ww")],
        "expected event 1 of transaction 2, which is a read on line 1, found a write",
    ),
}


@pytest.mark.parametrize(("edges", "message"), CONTRADICTIONS.values(), ids=CONTRADICTIONS.keys())
def test_a_contradiction_is_an_error(edges: list[tuple[str, str, str]], message: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(*edges)
    assert str(caught.value).partition("\n")[0] == f"<bytes>:1: {message}"


MISTAKES = {
    "no type": ('{"from_evt":"w_evt/1,1"}', "PATH:1:1: expected a dependency with its `type`, found "),
    "no event": (
        '{"_from":"txn/1","type":"wr"}',
        "PATH:1:1: expected a dependency with its `from_evt`, found ",
    ),
    "nothing known": ('{"x":1}', "PATH:1:1: expected a dependency such as "),
    "a read that writes": (
        '{"from_evt":"r_evt/1,1","to_evt":"r_evt/2,1","type":"wr"}',
        "PATH:1:13: expected a write or append on this side of the dependency, found ",
    ),
    "another event": (
        '{"from_evt":"x_evt/1,1","to_evt":"r_evt/2,1","type":"wr"}',
        "PATH:1:13: expected an event such as `r_evt/1,2`: read, transaction, place, found ",
    ),
    "no place": (
        '{"from_evt":"w_evt/1","to_evt":"r_evt/2,1","type":"wr"}',
        "PATH:1:13: expected an event such as `r_evt/1,2`: read, transaction, place, found ",
    ),
    "another owner": (
        '{"_from":"txn/7","from_evt":"w_evt/1,1","to_evt":"r_evt/2,1","type":"wr"}',
        "PATH:1:10: expected `txn/1`, the transaction of the event, not `txn/7`, found ",
    ),
    "listed twice": (
        '[{"_id":"txn/1"},\n{"_key":"1"}]',
        "PATH:2: expected each transaction once, found transaction 1, which line 1 lists\n",
    ),
    "not listed": (
        '[{"_id":"txn/1"},\n{"from_evt":"w_evt/1,1","to_evt":"r_evt/2,1","type":"wr"}]',
        "PATH:2: expected transactions that are listed, found transaction 2, which is not listed\n",
    ),
}


@pytest.mark.parametrize(("text", "message"), MISTAKES.values(), ids=MISTAKES.keys())
def test_a_mistake_is_told_where_it_stands(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "history"
    path.write_text(text)
    with pytest.raises(FormatError) as caught:
        formats.load(path, format="grail")
    assert str(caught.value).replace(str(path), "PATH").startswith(message)
