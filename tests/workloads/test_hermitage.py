from __future__ import annotations

from itertools import pairwise

import pytest

from isoscope.levels import Level
from isoscope.workloads.hermitage import ANOMALIES, INITIAL, KEYS, SCRIPTS, Answer, Script, Seen
from isoscope.workloads.published import EXPECTATIONS, Cell, cells, expectation

BY_NAME = {script.name: script for script in SCRIPTS}
PREVENTED = dict.fromkeys(BY_NAME, Answer.PREVENTED)
each_script = pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)


def test_every_anomaly_of_the_table_has_a_script() -> None:
    assert list(dict.fromkeys(script.anomaly for script in SCRIPTS)) == list(ANOMALIES)
    assert len(BY_NAME) == len(SCRIPTS)


@each_script
def test_a_transaction_begins_first_and_ends_last(script: Script) -> None:
    for transaction in range(1, script.transactions + 1):
        actions = [step.action for step in script.steps if step.transaction == transaction]
        assert actions[0] == "begin"
        assert actions[-1] in {"commit", "rollback"}
        assert not {"begin", "commit", "rollback"} & {*actions[1:-1]}


@each_script
def test_a_value_tells_who_wrote_it(script: Script) -> None:
    written = [(s.key, s.value) for s in script.steps if s.action in {"write", "insert"}]
    assert len(written) == len({*written, *INITIAL.items()}) - len(INITIAL)


@each_script
def test_a_range_read_covers_all_keys_of_a_script(script: Script) -> None:
    assert KEYS[0] <= min(script.keys) <= max(script.keys) <= KEYS[1]


def test_a_read_is_named_once() -> None:
    for script in SCRIPTS:
        names = [step.name for step in script.steps if step.name]
        assert len(names) == len(set(names))


def test_nothing_is_shown_if_somebody_could_not_commit() -> None:
    reads = {"by_1": {1: 10}, "by_2": {1: 10}}
    both = Seen(reads=reads, committed=frozenset({1, 2}), final={1: 12, 2: 20})
    assert BY_NAME["P4"].answer(both) is Answer.ALLOWED
    one = Seen(reads=reads, committed=frozenset({1}), final={1: 11, 2: 20})
    assert BY_NAME["P4"].answer(one) is Answer.PREVENTED


def test_who_rolls_back_need_not_commit() -> None:
    dirty = Seen(reads={"before": {1: 101}, "after": {1: 10}}, committed=frozenset({2}), final={1: 10, 2: 20})
    assert BY_NAME["G1a"].answer(dirty) is Answer.ALLOWED


@pytest.mark.parametrize(
    ("first", "second", "answer"), [(12, 19, Answer.ALLOWED), (11, 19, Answer.PREVENTED)]
)
def test_a_transaction_vanishes_if_something_older_is_read_after_it(
    first: int, second: int, answer: Answer
) -> None:
    later = {"third": {2: 18}, "fourth": {1: 12}, "fifth": {2: 18}, "sixth": {1: 12}}
    reads = {"first": {1: first}, "second": {2: second}, **later}
    seen = Seen(reads=reads, committed=frozenset({1, 2, 3}), final={1: 12, 2: 18})
    assert BY_NAME["OTV"].answer(seen) is answer


def test_a_row_that_is_not_there_shows_nothing() -> None:
    assert Seen(reads={"before": {1: 10}}, committed=frozenset(), final={})("before", 3) is None


def test_a_cell_is_prevented_if_all_its_scripts_are() -> None:
    assert set(cells(PREVENTED).values()) == {Cell.PREVENTED}


def test_a_cell_is_for_readers_only_if_a_script_that_writes_shows_the_anomaly() -> None:
    assert cells(PREVENTED | {"PMP, writing": Answer.ALLOWED})["PMP"] is Cell.READ_ONLY
    assert cells(PREVENTED | {"G-single, writing": Answer.ALLOWED})["G-single"] is Cell.READ_ONLY


def test_a_cell_is_allowed_if_a_script_that_only_reads_shows_the_anomaly() -> None:
    assert cells(PREVENTED | {"G-single, predicate": Answer.ALLOWED})["G-single"] is Cell.ALLOWED


def test_an_anomaly_of_writers_is_never_for_readers_only() -> None:
    assert cells(PREVENTED | {"P4": Answer.ALLOWED})["P4"] is Cell.ALLOWED
    assert cells(PREVENTED | {"G2, two edges": Answer.ALLOWED})["G2"] is Cell.ALLOWED


def test_an_anomaly_that_nobody_asked_for_has_no_cell() -> None:
    assert cells({"P4": Answer.PREVENTED}) == {"P4": Cell.PREVENTED}


def test_a_stronger_isolation_of_the_published_table_prevents_no_less() -> None:
    strength = [Cell.ALLOWED, Cell.READ_ONLY, Cell.PREVENTED]
    ladder = ["read-uncommitted", "read-committed", "repeatable-read", "serializable"]
    for database in ("postgresql", "mariadb"):
        known = [EXPECTATIONS[database, name] for name in ladder if (database, name) in EXPECTATIONS]
        assert {row.kind for row in known} == {"published"}
        for weak, strong in pairwise(known):
            for anomaly in ANOMALIES:
                assert strength.index(weak.cells[anomaly]) <= strength.index(strong.cells[anomaly])


def test_what_is_not_in_the_published_table_is_theory() -> None:
    for database in ("sqlite", "duckdb", "simulated"):
        assert {row.kind for (name, _), row in EXPECTATIONS.items() if name == database} == {"theory"}


def test_snapshot_isolation_of_mariadb_is_known_by_its_promise() -> None:
    plain = expectation("mariadb", "repeatable-read", [Level.PL_2])
    snapshot = expectation("mariadb", "repeatable-read", [Level.STRONG_SNAPSHOT_ISOLATION])
    assert plain is not None
    assert plain.cells["P4"] is Cell.ALLOWED
    assert snapshot is not None
    assert snapshot.cells["P4"] is Cell.PREVENTED


def test_a_stronger_promise_changes_nothing_where_there_is_one_row() -> None:
    promised = expectation("postgresql", "serializable", [Level.SERIALIZABLE])
    assert promised is not None
    assert promised == expectation("postgresql", "serializable")


def test_of_other_databases_nothing_is_known() -> None:
    assert expectation("toy", "serial") is None
