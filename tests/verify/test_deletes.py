"""Deletes: each leaves a version that reads as nil."""

from __future__ import annotations

import random
from itertools import permutations
from typing import Any

from isoscope.verify.history import UNKNOWN, History, Initial, Transaction
from tests.verify.small import accepts

HOLDS = {"level": "serializable", "outcome": "holds", "witness": "a"}


def history(*operations: list[tuple[str, str, Any]], statuses: str = "", initial: Any = 0) -> History:
    """Transactions 1, 2, ... with these operations, each its own session; `?` is an indeterminate one."""
    made = []
    for number, own in enumerate(operations):
        t = Transaction(number, number + 1, number)
        t.status = "indeterminate" if statuses[number : number + 1] == "?" else "committed"
        t.operations = list(own)
        made.append(t)
    return History(made, Initial(value=initial), "tiny")


def is_accepted(read: History, order: list[int], level: str = "serializable", **more: Any) -> bool:
    return accepts(read, {"witness": "a", "order": order} | more, HOLDS | {"level": level})


def test_a_read_after_a_delete_shows_nil() -> None:
    read = history([("write", "x", 1)], [("delete", "x", None)], [("read", "x", None)])
    assert is_accepted(read, [1, 2, 3])
    assert not is_accepted(read, [2, 1, 3])


def test_a_read_before_the_delete_shows_the_value() -> None:
    read = history([("write", "x", 1)], [("delete", "x", None)], [("read", "x", 1)])
    assert is_accepted(read, [1, 3, 2])
    assert not is_accepted(read, [1, 2, 3])


def test_a_deleted_key_of_which_the_initial_value_is_unknown_may_be_absent_at_first() -> None:
    operations = [("read", "x", None)], [("write", "x", 1), ("delete", "x", None)]
    assert is_accepted(history(*operations, initial=UNKNOWN), [1, 2])
    assert is_accepted(history(*operations, initial=UNKNOWN), [2, 1])
    assert not is_accepted(history(*operations), [1, 2])
    assert is_accepted(history(*operations), [2, 1])


def test_a_delete_that_did_not_take_effect_shows_that_the_key_may_be_absent_at_first() -> None:
    operations = [("read", "x", None)], [("delete", "x", None)]
    assert is_accepted(history(*operations, statuses=" ?", initial=UNKNOWN), [1])
    assert not is_accepted(history(*operations, statuses=" ?"), [1], took_effect=[])
    assert is_accepted(history(*operations, statuses=" ?"), [2, 1], took_effect=[2])


def test_a_transaction_reads_its_own_delete() -> None:
    assert is_accepted(history([("write", "x", 1), ("delete", "x", None), ("read", "x", None)]), [1])
    assert not is_accepted(history([("write", "x", 1), ("delete", "x", None), ("read", "x", 1)]), [1])


def test_two_deletes_in_one_snapshot_conflict() -> None:
    read = history([("delete", "x", None)], [("delete", "x", None)])
    line = HOLDS | {"level": "snapshot-isolation"}
    assert accepts(read, {"witness": "a", "events": [1, 1, 2, 2]}, line)
    assert not accepts(read, {"witness": "a", "events": [1, 2, 1, 2]}, line)


def test_the_certificate_names_the_delete_that_a_read_of_nil_shows() -> None:
    read = history([("write", "x", 1)], [("delete", "x", None)], [("read", "x", None)], initial=None)
    for level in ("causal", "parallel-snapshot-isolation", "pl-2"):
        assert is_accepted(read, [1, 2, 3], level, writers=[[[3, 0], [2, 0]]])
        assert not is_accepted(read, [1, 2, 3], level)
        assert not is_accepted(read, [3, 1, 2], level, writers=[[[3, 0], [2, 0]]])


def test_nil_is_a_value_like_any_other() -> None:
    line = {"level": "pl-2", "outcome": "violated", "proof": {"read": [1, 0]}}
    assert accepts(history([("read", "x", 9)], [("delete", "x", None)]), line)
    assert accepts(history([("read", "x", None)]), line)
    assert not accepts(history([("read", "x", None)], [("delete", "x", None)]), line)


def test_a_cycle_may_lead_over_a_delete() -> None:
    read = history(
        [("read", "x", 1), ("delete", "x", None), ("write", "y", 1)], [("read", "y", 1), ("write", "x", 1)]
    )
    cycle = [{"by": "wr", "from": 1, "to": 2, "read": 0}, {"by": "wr", "from": 2, "to": 1, "read": 0}]
    assert accepts(read, {"level": "pl-2", "outcome": "violated", "proof": {"cycle": cycle}})


def test_a_serial_order_is_accepted_exactly_if_it_explains_all_reads() -> None:
    answers = set()
    for seed in range(300):
        read = drawn(random.Random(seed))
        for order in permutations(range(3)):
            is_explained = explains(read, order)
            assert is_accepted(read, [number + 1 for number in order]) is is_explained, seed
            answers.add(is_explained)
    assert answers == {True, False}


def drawn(choose: random.Random) -> History:
    operations = [[drawn_operation(choose) for _ in range(choose.randrange(1, 4))] for _ in range(3)]
    return history(*operations)


def drawn_operation(choose: random.Random) -> tuple[str, str, Any]:
    kind = choose.choice(["read", "read", "write", "delete"])
    value = {"read": choose.choice([None, 0, 1, 2]), "write": choose.choice([1, 2]), "delete": None}[kind]
    return kind, choose.choice("xxy"), value


def explains(read: History, order: tuple[int, ...]) -> bool:
    """The definition: run one by one, every read shows what was left, or the initial value."""
    state: dict[str, Any] = {}
    for number in order:
        for kind, key, value in read.transactions[number].operations:
            if kind != "read":
                state[key] = value
            elif state.get(key, 0) != value:
                return False
    return True
