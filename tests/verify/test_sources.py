"""Logs, declared orders and timestamps: an order must contain them, a proof may use them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from isoscope.verify.explanation import Explanation, Writes
from isoscope.verify.version_order import VersionOrder
from tests.verify.boundaries import tiny
from tests.verify.prover import prove
from tests.verify.small import accepts

if TYPE_CHECKING:
    from isoscope.verify.history import History

ORDERS = {"forward": [1, 2], "backward": [2, 1]}
PL_1 = {"level": "pl-1", "outcome": "holds", "witness": "a"}


def two_writers() -> History:
    return tiny(((0, "w x 1"), (1, "w x 2")))


def recorded(source: str) -> History:
    """The first write before the second, by one source."""
    history = two_writers()
    if source == "timestamps":
        for t in history.transactions:
            t.commit = (t.number, 0)
    else:
        history.recorded = {source: {"x": [1, 2]}}
    return history


@pytest.mark.parametrize("source", ["log", "declared", "timestamps"])
@pytest.mark.parametrize("level", ["pl-1", "read-committed", "causal", "serializable"])
def test_an_order_contains_what_a_source_says(source: str, level: str) -> None:
    line = {"level": level, "outcome": "holds", "witness": "a"}
    assert accepts(recorded(source), {"witness": "a", "order": [1, 2]}, line)
    assert not accepts(recorded(source), {"witness": "a", "order": [2, 1]}, line)
    assert accepts(two_writers(), {"witness": "a", "order": [2, 1]}, line)


@pytest.mark.parametrize("source", ["log", "declared", "timestamps"])
def test_a_proof_rests_on_a_source(source: str) -> None:
    history = recorded(source)
    history.transactions[0].session = history.transactions[1].session = 0
    history.transactions[0].place, history.transactions[1].place = 1, 0
    step = {"by": "ww", "from": 1, "to": 2, "versions": [[1, 0], [2, 0]]}
    back = {"by": "session", "from": 2, "to": 1}
    line = {"level": "strong-session-pl-1", "outcome": "violated", "proof": {"cycle": [step, back]}}
    assert accepts(history, line)
    history.recorded = {}
    for t in history.transactions:
        t.commit = None
    assert not accepts(history, line)


def contradictory() -> History:
    history = recorded("log")
    history.transactions[0].commit, history.transactions[1].commit = (5, 0), (4, 0)
    return history


def entries(**witnesses: str) -> list[dict[str, Any]]:
    return [{"source": source, "witness": name} for source, name in witnesses.items()]


def test_two_reads_that_do_not_go_together_need_no_source() -> None:
    history = tiny(
        ((0, "w y 1, a x 1"), (1, "w y 2, a x 2"), (2, "a x 1"), (3, "r x [1,2,1]"), (4, "r x [2,1,1]"))
    )
    history.recorded = {"log": {"y": [1, 2]}}
    history.transactions[0].commit, history.transactions[1].commit = (5, 0), (4, 0)
    reads = {"outcome": "violated", "proof": {"reads": [[4, 0], [5, 0]]}}
    assert accepts(history, {"level": "pl-2"} | reads)
    assert not accepts(history, {"level": "pl-1"} | reads)
    history.transactions[4].operations[0] = ("read", "x", [1, 2])
    assert not accepts(history, {"level": "pl-2"} | reads)


def test_contradictory_sources_need_a_proof_each() -> None:
    history = contradictory()
    orders = [{"witness": name, "order": order} for name, order in ORDERS.items()]
    line = {"level": "pl-1", "outcome": "holds"}
    right = entries(log="forward", timestamps="backward")
    assert accepts(history, *orders, line | {"sources": right})
    assert not accepts(history, *orders, line | {"sources": entries(log="backward", timestamps="forward")})
    assert not accepts(history, *orders, line | {"sources": entries(log="forward")})
    assert not accepts(history, *orders, line | {"witness": "forward"})
    assert not accepts(recorded("log"), *orders, line | {"sources": right})


def test_contradictory_sources_prove_no_violation_together() -> None:
    """The log and the timestamps close a cycle of two writes; the database is not accused of it."""
    steps = [
        {"by": "ww", "from": 1, "to": 2, "versions": [[1, 0], [2, 0]]},
        {"by": "ww", "from": 2, "to": 1, "versions": [[2, 0], [1, 0]]},
    ]
    assert not accepts(contradictory(), {"level": "pl-1", "outcome": "violated", "proof": {"cycle": steps}})


def test_a_log_shows_that_a_transaction_took_effect() -> None:
    history = recorded("log")
    history.transactions[1].status, history.has_indeterminate = "indeterminate", True
    whole = {"witness": "a", "order": [1, 2], "took_effect": [2]}
    assert accepts(history, whole, PL_1)
    assert accepts(history, {"witness": "a", "order": [1, 2]}, PL_1)
    assert not accepts(history, {"witness": "a", "order": [1], "took_effect": []}, PL_1)


def test_a_row_with_several_writers_leaves_a_level_without_certificate() -> None:
    history = tiny(((0, "w x 1"), (1, "w x 1")))
    history.recorded = {"log": {"x": [1, 1]}}
    assert not accepts(history, {"witness": "a", "order": [1, 2]}, PL_1)


def test_rows_that_no_transaction_wrote_are_no_source() -> None:
    """Then the writer of the other list need not be known to say that sources agree."""
    history = tiny(((0, "a x 1"), (1, "a x 1"), (2, "r x [1,1,1]")))
    history.recorded = {"log": {"x": [7]}}
    assert VersionOrder(Explanation(Writes(history))).sources() == ["lists"]
    history.recorded = {"log": {"x": [7, 1]}}
    assert VersionOrder(Explanation(Writes(history))).sources() == ["lists", "log"]


def test_deleted_keys_are_not_judged() -> None:
    history = tiny(((0, "w x 1"), (1, "r x 5")))
    history.unjudged.add("x")
    assert not accepts(history, {"witness": "a", "order": [1, 2]}, PL_1)
    assert prove(history, "pl-2") is None
