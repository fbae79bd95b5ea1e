"""Graphs of list histories, made as GRAIL makes them: they have the verdicts of the lists."""

from __future__ import annotations

import json
from collections import defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from isoscope import formats
from isoscope.checkers import check
from isoscope.history import History, Operation, OperationKind, Transaction
from isoscope.levels import Level
from isoscope.recorder import build
from isoscope.verdict import Outcome
from tests.formats.forms import READ_ONLY

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from hypothesis.strategies import DrawFn

#: Levels by cycles of dependencies: a graph shows them without keys, values and the order of reads.
LEVELS = [
    Level.PL_1,
    Level.PL_2,
    Level.CURSOR_STABILITY,
    Level.CONSISTENT_VIEW,
    Level.PARALLEL_SNAPSHOT_ISOLATION,
    Level.SNAPSHOT_ISOLATION,
    Level.UPDATE_SERIALIZABLE,
    Level.REPEATABLE_READ,
    Level.SERIALIZABLE,
]
Edge = tuple[str, str, str]


def append(key: int, value: int) -> Operation:
    return Operation(kind=OperationKind.APPEND, key=key, value=value)


def read(key: int, *elements: int) -> Operation:
    return Operation(kind=OperationKind.READ, key=key, value=elements)


def lists(*transactions: list[Operation]) -> History:
    """Committed transactions without sessions, numbered from 0."""
    return build(
        [
            Transaction(number=0, id=number, session=0, session_id=None, operations=tuple(operations))
            for number, operations in enumerate(transactions)
        ]
    )


def events(history: History) -> Iterator[tuple[str, Operation]]:
    for transaction in history:
        for place, operation in enumerate(transaction.operations):
            kind = "r" if operation.kind is OperationKind.READ else "a"
            yield f"{kind}_evt/{transaction.id},{place}", operation


def owner(event: str) -> str:
    return event.partition("/")[2].partition(",")[0]


def exported(history: History) -> list[Edge]:
    """All dependencies of a list history, as GRAIL finds them: none between appends that no read shows."""
    appended: dict[object, dict[object, str]] = defaultdict(dict)
    reads: dict[object, list[tuple[str, tuple[object, ...]]]] = defaultdict(list)
    for event, operation in events(history):
        if operation.kind is OperationKind.APPEND:
            appended[operation.key][operation.value] = event
        else:
            assert isinstance(operation.value, tuple)
            reads[operation.key].append((event, operation.value))
    edges: list[Edge] = []
    for key, seen in reads.items():
        longest = max((elements for _, elements in seen), key=len)
        unread = [event for value, event in appended[key].items() if value not in longest]
        order = [appended[key][value] for value in longest]
        edges += [(*pair, "ww") for pair in pairwise(order)]
        edges += [(order[-1], event, "ww") for event in unread if order]
        for event, elements in seen:
            if elements:
                edges.append((order[len(elements) - 1], event, "wr"))
            following = order[len(elements) : len(elements) + 1] or unread
            edges += [(event, after, "rw") for after in following]
    return [edge for edge in edges if owner(edge[0]) != owner(edge[1])]


def grouped(edges: list[Edge]) -> list[Edge]:
    """One dependency of each type between two transactions: GRAIL's files have no more."""
    first: dict[tuple[str, str, str], Edge] = {}
    for edge in edges:
        first.setdefault((owner(edge[0]), owner(edge[1]), edge[2]), edge)
    return list(first.values())


def graph(edges: list[Edge]) -> History:
    documents = [
        {
            "_from": f"txn/{owner(start)}",
            "_to": f"txn/{owner(end)}",
            "from_evt": start,
            "to_evt": end,
            "type": kind,
        }
        for start, end, kind in edges
    ]
    return READ_ONLY["grail"].read(json.dumps(documents).encode())


def outcomes(history: History) -> dict[Level, Outcome]:
    return {verdict.level: verdict.outcome for verdict in check(history, LEVELS).verdicts}


CASES = {
    "two appends that no read shows": lists([append(1, 1)], [read(1, 1)], [append(1, 2)], [append(1, 3)]),
    "every list is empty": lists([read(1), append(2, 1)], [read(2), append(1, 1)], [append(1, 2)]),
    # Whichever of the last two appends comes first, the other one's reader missed it.
    "no order of two appends is allowed": lists(
        [append(1, 1), append(2, 1)],
        [read(1, 1), read(2, 1), append(1, 2), append(2, 2)],
        [read(1, 1), read(2, 1), append(2, 3), append(1, 3)],
    ),
    "a read that comes before two unread appends": lists(
        [append(1, 1)], [append(1, 2), read(2)], [append(2, 1), append(1, 3)], [read(1, 1), read(2, 1)]
    ),
}


@pytest.mark.parametrize("history", CASES.values(), ids=CASES.keys())
def test_a_graph_has_the_verdicts_of_its_list_history(history: History) -> None:
    assert outcomes(graph(exported(history))) == outcomes(history)


def test_a_lost_update_shows_in_an_open_pair() -> None:
    found = outcomes(graph(exported(CASES["no order of two appends is allowed"])))
    assert found[Level.PL_2] is Outcome.HOLDS
    assert found[Level.SNAPSHOT_ISOLATION] is Outcome.VIOLATED


def test_a_file_with_unread_appends_is_read_as_lists(tmp_path: Path) -> None:
    (tmp_path / "txn1.json").write_text('[{"_key":"1","_id":"txn/1"},{"_key":"10","_id":"txn/10"}]')
    edge = {"_from": "txn/1", "_to": "txn/10", "from_evt": "a_evt/1,1", "to_evt": "a_evt/10,0", "type": "ww"}
    (tmp_path / "dep1.json").write_text(json.dumps([edge | {"_key": "7", "_id": "dep/7", "_rev": "_g"}]))
    history = formats.load(tmp_path)
    assert [[o.kind for o in t.operations] for t in history] == [[OperationKind.APPEND]] * 2


@st.composite
def list_histories(draw: DrawFn) -> History:
    """Lists that some database could have returned: every read is a beginning of the final list.

    A transaction reads a key at most once, before it appends to it, so that no read is of an own append.
    """
    count = draw(st.integers(2, 5))
    keys = (1, 2, 3)
    final: dict[int, list[int]] = {key: [] for key in keys}
    plans: list[list[Operation]] = []
    for number in range(count):
        mine = draw(st.lists(st.sampled_from(keys), min_size=1, max_size=3, unique=True))
        plans.append([append(key, number + 1) for key in mine])
        for key in mine:
            final[key].insert(draw(st.integers(0, len(final[key]))), number + 1)
    shown = {key: draw(st.integers(0, len(final[key]))) for key in keys}
    for number, plan in enumerate(plans):
        for key in draw(st.lists(st.sampled_from(keys), max_size=2, unique=True)):
            length = draw(st.integers(0, shown[key]))
            if number + 1 not in final[key][:length]:
                plan.insert(0, read(key, *final[key][:length]))
    return lists(*plans)


def joins_appends(history: History) -> bool:
    """Whether dependencies join all appends to each key: a graph has no other trace of a key.

    There are none of keys without reads, and none inside a transaction.
    """
    group: dict[str, set[str]] = {}
    for start, end, _ in exported(history):
        joined = group.get(start, {start}) | group.get(end, {end})
        group |= dict.fromkeys(joined, joined)
    appends: dict[object, list[str]] = defaultdict(list)
    for event, operation in events(history):
        if operation.kind is OperationKind.APPEND:
            appends[operation.key].append(event)
    return all(set(own) <= group.get(own[0], {own[0]}) for own in appends.values())


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(history=list_histories().filter(joins_appends))
def test_every_dependency_of_a_list_history_gives_its_verdicts(history: History) -> None:
    assert outcomes(graph(exported(history))) == outcomes(history)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(history=list_histories(), edges=st.randoms(use_true_random=False))
def test_a_violation_of_an_exported_graph_is_one_of_the_list_history(history: History, edges: object) -> None:
    dependencies = exported(history)
    edges.shuffle(dependencies)  # type: ignore[attr-defined]
    known = outcomes(history)
    for level, outcome in outcomes(graph(grouped(dependencies))).items():
        assert outcome is not Outcome.VIOLATED or known[level] is Outcome.VIOLATED
