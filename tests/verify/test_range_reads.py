"""Range reads in the verifier, against the definition stated once more by brute force."""

from __future__ import annotations

import random
from itertools import permutations
from typing import TYPE_CHECKING, Any

import pytest

from isoscope import checkers, formats
from isoscope.prove.certificates import Prover
from isoscope.verdict import Outcome
from isoscope.verify.files import read_history
from isoscope.verify.history import UNKNOWN, History, Initial, Term, Transaction
from isoscope.verify.levels import LEVELS
from isoscope.verify.predicates import Unmatched, is_known
from isoscope.verify.ranges import RangeRead, replace_ranges
from tests.verify.certified_histories import FAMILIES
from tests.verify.small import accepts

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PREDICATES: dict[str | None, Callable[[Any], bool]] = {
    None: lambda _: True,
    ":true": lambda _: True,
    "[:= 2]": lambda value: value == 2,
    "[:mod 2 1]": lambda value: value % 2 == 1,
    "[:in 1 3]": lambda value: value in (1, 3),
}
KEYS = (1, 2, 3)


def history(*operations: list[tuple[str, Any, Any]], initial: Any = None) -> History:
    """Transactions 1, 2, ... with these operations, each its own session."""
    made = [Transaction(number, number + 1, number) for number in range(len(operations))]
    for t, own in zip(made, operations, strict=True):
        t.operations = list(own)
    keys = [(None, key) for t in made for _, key, _ in t.operations if key is not None]
    replace_ranges(made, keys)
    return History(made, Initial(value=initial), "tiny")


def rows(shown: dict[Any, Any], predicate: str | None = None, **more: Any) -> tuple[str, None, RangeRead]:
    return "range-read", None, RangeRead([*shown.items()], predicate=predicate, **more)


def accepted(read: History, level: str, order: list[int], **more: Any) -> bool:
    line = {"level": level, "outcome": "holds", "witness": "a"}
    return accepts(read, {"witness": "a", "order": order} | more, line)


def refuted(read: History, level: str, proof: dict[str, Any]) -> bool:
    return accepts(read, {"level": level, "outcome": "violated", "proof": proof})


def drawn(choose: random.Random) -> list[list[tuple[str, Any, Any]]]:
    return [[drawn_operation(choose) for _ in range(choose.randrange(1, 4))] for _ in range(3)]


def drawn_operation(choose: random.Random) -> tuple[str, Any, Any]:
    kind = choose.choice(["write", "write", "delete", "range", "range"])
    if kind == "write":
        return kind, choose.choice(KEYS), choose.choice([1, 2, 3])
    if kind == "delete":
        return kind, choose.choice(KEYS), None
    predicate = choose.choice([*PREDICATES])
    low, high = choose.choice([(None, None), (2, None), (None, 2), (2, 2)])
    asked = [key for key in KEYS if (low is None or low <= key) and (high is None or key <= high)]
    shown = {key: choose.choice([1, 2, 3]) for key in asked if choose.random() < 0.25}
    return rows(shown, predicate, low=low, high=high)


def explains(operations: list[list[tuple[str, Any, Any]]], order: tuple[int, ...]) -> bool:
    """Run one by one: a range read shows right values, and misses no row between its bounds that matches."""
    state: dict[int, Any] = {}
    for number in order:
        for kind, key, value in operations[number]:
            if kind != "range-read":
                state[key] = value
                continue
            shown = dict(value.rows)
            if any(state.get(row) != found for row, found in shown.items()):
                return False
            for row, found in state.items():
                is_asked = (value.low is None or value.low <= row) and (
                    value.high is None or row <= value.high
                )
                if is_asked and row not in shown and found is not None and PREDICATES[value.predicate](found):
                    return False
    return True


def test_a_serial_order_is_accepted_exactly_if_every_range_read_shows_its_rows() -> None:
    answers = []
    for seed in range(400):
        operations = drawn(random.Random(seed))
        for order in permutations(range(3)):
            found = explains(operations, order)
            names = [number + 1 for number in order]
            assert accepted(history(*operations), "serializable", names) is found, (seed, order)
            answers.append(found)
    assert min(answers.count(True), answers.count(False)) > 100


def test_the_reads_stand_in_the_order_of_the_keys_and_places_count_them() -> None:
    read = history(
        [rows({"b": 7, 10: 8}), ("write", 9, 1)], [("write", "a", 1), ("write", Term("float", "1.5"), 1)]
    )
    found = read.transactions[0]
    assert [key for _, key, _ in found.operations] == [9, 10, "a", "b", Term("float", "1.5"), 9]
    assert found.left_out == {0, 2, 4}


def test_a_range_read_reads_the_keys_of_its_table_between_its_bounds() -> None:
    made = [Transaction(0, 1, 0)]
    made[0].operations = [rows({}, low=2, table="t")]
    replace_ranges(made, [("t", 1), ("t", 2), ("t", "x"), ("s", 3), (None, 4), ("t", 5)])
    assert [key for _, key, _ in made[0].operations] == [2, 5]


def test_a_row_that_two_inserts_miss_breaks_serializability_and_not_repeatable_read() -> None:
    read = history([rows({}), ("write", 1, 5)], [rows({}), ("write", 2, 6)])
    cycle = [
        {"by": "rw", "from": 1, "to": 2, "read": 1, "versions": [None, [2, 2]]},
        {"by": "rw", "from": 2, "to": 1, "read": 0, "versions": [None, [1, 2]]},
    ]
    assert refuted(read, "serializable", {"cycle": cycle})
    assert not refuted(read, "repeatable-read", {"cycle": cycle})
    assert accepted(read, "repeatable-read", [1, 2])
    assert not accepted(read, "serializable", [1, 2])


def test_single_reads_of_the_same_keys_break_repeatable_read() -> None:
    read = history([("read", 2, None), ("write", 1, 5)], [("read", 1, None), ("write", 2, 6)])
    cycle = [
        {"by": "rw", "from": 1, "to": 2, "read": 0, "versions": [None, [2, 1]]},
        {"by": "rw", "from": 2, "to": 1, "read": 0, "versions": [None, [1, 1]]},
    ]
    assert refuted(read, "repeatable-read", {"cycle": cycle})
    assert not accepted(read, "repeatable-read", [1, 2])


def test_repeatable_read_asks_that_what_a_range_read_leaves_out_was_so_at_some_time() -> None:
    seen, empty = [("read", 1, 5)], [rows({})]
    read = history([("write", 1, 5)], seen, empty)
    assert accepted(read, "repeatable-read", [1, 2, 3])
    assert not accepted(history([("write", 1, 5)], seen, empty, initial=4), "repeatable-read", [1, 2, 3])


def test_a_key_that_no_state_hides_is_a_wrong_read() -> None:
    proof = {"read": [2, 0]}
    left_out = [rows({}, "[:in 2 5]")]
    assert refuted(history([("write", 1, 5)], left_out, initial=2), "pl-2", proof)
    assert not refuted(history([("write", 1, 4)], left_out, initial=2), "pl-2", proof)
    assert not refuted(history([("write", 1, 5)], left_out, initial=3), "pl-2", proof)
    assert not refuted(history([("write", 1, 5)], left_out, initial=UNKNOWN), "pl-2", proof)


@pytest.mark.parametrize(
    ("first", "second", "differs"),
    [
        (rows({1: 5}), rows({}), True),
        (rows({1: 5}), rows({}, "[:= 5]"), True),
        (rows({1: 5}), rows({}, "[:= 4]"), False),
        (rows({}, "[:= 5]"), ("read", 1, 5), True),
        (rows({}, "[:= 5]"), rows({}, ":true"), False),
        (rows({}), rows({}, "[:= 5]"), False),
    ],
)
def test_two_reads_of_a_key_differ_if_one_leaves_it_out_and_the_other_shows_a_match(
    first: Any, second: Any, differs: bool
) -> None:
    read = history([first, second], [("write", 1, 5)])
    line = {"level": "cut-isolation", "outcome": "holds"}
    assert accepts(read, line) is not differs
    assert refuted(read, "cut-isolation", {"reads": [[1, 0], [1, 1]]}) is differs


def test_after_an_own_write_that_matches_leaving_it_out_is_wrong() -> None:
    own = ("write", 1, 5)
    assert accepted(history([own, rows({}, "[:= 4]")]), "serializable", [1])
    assert not accepted(history([own, rows({}, "[:= 5]")]), "serializable", [1])
    assert refuted(history([own, rows({}, "[:= 5]")]), "pl-2", {"read": [1, 1]})


def test_one_initial_value_explains_all_that_is_left_out() -> None:
    said = [("read", 1, 3)], [rows({}, "[:= 3]")]
    assert not accepted(history(*said, initial=UNKNOWN), "serializable", [2, 1])
    assert accepted(history(said[0], [rows({}, "[:= 4]")], initial=UNKNOWN), "serializable", [2, 1])


def test_a_list_that_a_predicate_leaves_out_was_empty_only_if_all_matches() -> None:
    appended = [("append", 1, 5)]
    assert not accepted(history(appended, [rows({}, ":true")]), "serializable", [1, 2])
    assert accepted(history(appended, [rows({}, ":true")]), "serializable", [2, 1])
    assert accepted(history(appended, [rows({}, "[:= 5]")]), "serializable", [1, 2])


@pytest.mark.parametrize("asked", [rows({}, "x > 1"), rows({}, low=Term("float", "1.5"))])
def test_what_is_not_judged_lets_no_level_hold(asked: Any) -> None:
    assert not accepted(history([asked], [("write", 1, 1)]), "pl-1", [1, 2])
    assert not accepts(history([asked], [("write", 1, 1)]), {"level": "cut-isolation", "outcome": "holds"})


def test_rows_beside_a_predicate_of_another_form_are_judged() -> None:
    assert accepted(history([rows({1: 1}, "x > 1")], [("write", 1, 1)]), "serializable", [2, 1])


@pytest.mark.parametrize(
    ("predicate", "value", "is_left_out"),
    [
        (":true", 1, False),
        (":true", None, True),
        ("[:= 1]", 1, False),
        ("[:= 1]", "1", True),
        ("[:mod 3 2]", 5, False),
        ("[:mod 3 2]", -1, False),
        ("[:mod 3 2]", "5", True),
        ('[:in 1 "a b"]', "a b", False),
        ('[:in 1 "a b"]', 2, True),
        ("[:in 1]", None, True),
    ],
)
def test_what_a_predicate_leaves_out(predicate: str, value: Any, is_left_out: bool) -> None:
    assert Unmatched(predicate).allows(value) is is_left_out


@pytest.mark.parametrize(
    "predicate", ["", "x", "[]", "[:in]", "[:mod 0 1]", "[:= a]", "[:in :a]", "{:= 1}", "[:= 1 2]"]
)
def test_other_forms_are_not_known(predicate: str) -> None:
    assert not is_known(predicate)


@pytest.mark.parametrize("family", ["serial runs of range reads", "range reads, changed"])
def test_no_proof_is_found_of_the_opposite_of_a_verdict(family: str, tmp_path: Path) -> None:
    path, tried = tmp_path / "history.parquet", 0
    for seed in range(6):
        formats.save(FAMILIES[family](seed), path)
        prover = Prover(read_history(path))
        for verdict in checkers.check(formats.load(path)):
            level = str(verdict.level)
            if level not in LEVELS or LEVELS[level].kind.startswith("clock-"):
                continue
            if verdict.outcome is Outcome.HOLDS:
                assert prover.violated(level) is None, (seed, level)
            elif verdict.outcome is Outcome.VIOLATED:
                assert prover.holds(level, []) is None, (seed, level)
            tried += verdict.outcome is not Outcome.UNKNOWN
    assert tried > 100
