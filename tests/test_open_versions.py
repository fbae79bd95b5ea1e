"""Verdicts where the order of some versions is open, compared with brute force over all orders."""

from __future__ import annotations

import random
from functools import partial
from itertools import count
from typing import Any

import pytest

from isoscope import History, Recorder, check
from isoscope._native import judge_versions
from isoscope.checkers import version_order
from isoscope.explain import message
from isoscope.history import VersionSource
from tests.proofs import Replay
from tests.seeds import seeds
from tests.small_histories import a, in_sessions, r, w
from tests.version_brute_force import BruteForce

Transactions = list[tuple[int, list[tuple[Any, ...]]]]

#: Registers without an order beside a list with unread appends.
MIXED: Transactions = [
    (0, [r("x", []), w("y", 3), a("x", 4)]),
    (1, [r("x", []), w("y", 5)]),
    (2, [r("y", 5), a("x", 7)]),
]


def logged(transactions: Transactions, log: dict[str, list[int]]) -> History:
    recorder = Recorder(initial=0)
    for session, operations in transactions:
        with recorder.transaction(session=session) as t:
            for kind, *arguments in operations:
                getattr(t, kind)(*arguments)
    for key, values in log.items():
        recorder.version_order(key, values, source=VersionSource.LOG)
    return recorder.history()


def outcomes(history: History, *levels: str, **options: Any) -> dict[str, str]:
    verdicts = check(history, levels or None, **options).verdicts
    return {verdict.level.value: verdict.outcome.value for verdict in verdicts}


def random_transactions(rng: random.Random) -> tuple[Transactions, dict[str, list[int]]]:
    """Reads of a register and of a list, each from an order that some transactions never see the end of."""
    values = count(1)
    kinds = {"y": "write", "x": "append"}
    plans = [
        [(rng.choice("xy"), rng.random() < 0.45) for _ in range(rng.randint(1, 3))]
        for _ in range(rng.randint(2, 4))
    ]
    written = [[(key, next(values)) for key, is_read in plan if not is_read] for plan in plans]
    orders: dict[str, list[int]] = {}
    for key in "xy":
        writers = [number for number, own in enumerate(written) if key in dict(own)]
        rng.shuffle(writers)
        orders[key] = writers
    visible = {key: rng.choice([0, rng.randint(0, len(orders[key]))]) for key in "xy"}
    transactions: Transactions = []
    for number, plan in enumerate(plans):
        rest = iter(written[number])
        seen: dict[str, list[Any]] = {}
        own: dict[str, list[int]] = {"x": [], "y": []}
        operations: list[tuple[Any, ...]] = []
        for key, is_read in plan:
            if not is_read:
                _, value = next(rest)
                own[key].append(value)
                operations.append((kinds[key], key, value))
                continue
            others = [n for n in orders[key] if n != number]
            end = orders[key].index(number) if key == "x" and number in orders[key] else len(others)
            state = [
                v for n in others[: rng.randint(0, min(end, visible[key]))] for v in _left(written[n], key)
            ]
            state = seen.setdefault(key, state)
            if key == "x":
                operations.append(r(key, [*state, *own[key]]))
            else:
                operations.append(r(key, own[key][-1] if own[key] else state[-1] if state else 0))
        transactions.append((rng.randint(0, 3), operations))
    log = {key: [_left(written[n], key)[-1] for n in orders[key]] for key in "y" if rng.random() < 0.3}
    return transactions, log


def _left(written: list[tuple[str, int]], key: str) -> list[int]:
    return [value for other, value in written if other == key]


def test_registers_and_unread_appends_are_completed_together() -> None:
    found = outcomes(in_sessions(*MIXED))
    broken = {level for level, outcome in found.items() if outcome == "violated"}
    assert "unknown" not in found.values()
    assert {"snapshot-isolation", "parallel-snapshot-isolation", "consistent-view"} <= broken
    assert not {"prefix", "causal", "pl-2", "monotonic-view"} & broken


def test_a_search_without_time_proves_nothing() -> None:
    found = outcomes(in_sessions(*MIXED), "prefix", "snapshot-isolation", time_limit=0)
    assert found == {"prefix": "holds", "snapshot-isolation": "unknown"}


def test_a_search_that_fills_its_memory_is_unknown_and_says_how_far_it_came(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    limited = partial(judge_versions, max_bytes=100)
    monkeypatch.setattr(version_order, "judge_versions", limited)
    found = {verdict.level.value: verdict for verdict in check(in_sessions(*MIXED)).verdicts}
    verdict = found["snapshot-isolation"]
    assert verdict.outcome.value == "unknown"
    assert verdict.reason is not None
    assert "filled the memory that it may use (" in verdict.reason
    assert " choices, " in verdict.reason


def test_small_histories_have_the_verdicts_of_brute_force() -> None:
    violated = 0
    for seed in range(seeds(120, deep=3_000)):
        transactions, log = random_transactions(random.Random(seed))
        expected = BruteForce(transactions, log).levels()
        found = outcomes(logged(transactions, log), *expected)
        assert found == {level: "holds" if held else "violated" for level, held in expected.items()}, seed
        violated += [*found.values()].count("violated")
    assert violated > 100


def test_every_order_is_told_with_the_circle_that_it_closes() -> None:
    history = in_sessions(*MIXED)
    [verdict] = check(history, ["parallel-snapshot-isolation"]).verdicts
    [anomaly] = verdict.anomalies
    Replay(history).anomaly(anomaly)
    said = message(anomaly)
    assert "If T3's 7 came before T1's 4 in x: T1 before T3" in said
    assert "If T1's 4 came before T3's 7 in x and T1's 3 came before T2's 5 in y: T2 before T1" in said
    assert "If T1's 4 came before T3's 7 in x and T2's 5 came before T1's 3 in y: T3 before T1" in said


@pytest.mark.parametrize("level", ["pl-2", "snapshot-isolation", "serializable"])
def test_the_order_of_versions_does_not_excuse_a_wrong_read(level: str) -> None:
    history = in_sessions((0, [r("y", 9)]), (1, [w("y", 5)]))
    [verdict] = check(history, [level], method="version-order").verdicts
    assert verdict.outcome == "violated"
    assert dict(verdict.anomaly_counts) == {"thin-air-read": 1}


@pytest.mark.parametrize("level", ["read-committed", "read-atomic", "causal"])
def test_a_verdict_does_not_depend_on_what_else_is_asked(level: str) -> None:
    """The log contradicts what the second transaction of the session read."""
    history = logged([(0, [w("x", 1)]), (0, [r("x", 1), w("x", 2)])], {"x": [2, 1]})
    assert outcomes(history, level)[level] == outcomes(history, level, "pl-2")[level] == "violated"
    assert outcomes(history, level, method="values") == {level: "unknown"}


def test_a_log_is_part_of_the_commit_order() -> None:
    transactions: Transactions = [
        (0, [w("x", 1)]),
        (1, [w("x", 2), w("y", 2)]),
        (2, [r("y", 2), r("x", 1)]),
    ]
    assert outcomes(logged(transactions, {"x": [1, 2]}), "read-committed") == {"read-committed": "violated"}
    assert outcomes(logged(transactions, {"x": [2, 1]}), "read-committed") == {"read-committed": "holds"}


def test_sources_that_disagree_leave_a_weak_level_open() -> None:
    recorder = Recorder(initial=0)
    for session, value in ((0, 1), (1, 2)):
        with recorder.transaction(session=session) as t:
            t.write("x", value)
            t.write("y", value) if value == 2 else None
    with recorder.transaction(session=2) as t:
        t.read("y", 2)
        t.read("x", 1)
    recorder.version_order("x", [1, 2], source=VersionSource.LOG)
    recorder.version_order("x", [2, 1], source=VersionSource.DECLARED)
    [verdict] = check(recorder.history(), ["read-committed"]).verdicts
    assert (verdict.outcome, "contradict each other" in verdict.reason) == ("unknown", True)


def test_a_proof_for_a_level_without_sessions_has_no_session() -> None:
    history = in_sessions((0, [r("x", 0), w("y", 1)]), (0, [r("y", 0), w("x", 1)]))
    for verdict in check(history).verdicts:
        if verdict.level in ("serializable", "update-serializable", "repeatable-read"):
            assert {anomaly.name for anomaly in verdict.anomalies} == {"write-skew"}
            steps = (step for anomaly in verdict.anomalies for step in anomaly.steps)
            assert {step.relation for step in steps} == {"rw"}


def test_appends_that_a_read_shows_interleaved_are_a_write_cycle() -> None:
    history = in_sessions(
        (0, [a("x", 1), a("x", 2)]), (1, [a("x", 11)]), (2, [r("x", [1, 11, 2])]), initial=None
    )
    [verdict] = check(history, ["pl-1"]).verdicts
    assert dict(verdict.anomaly_counts) == {"write-cycle": 1}
    assert outcomes(history, "pl-2") == {"pl-2": "violated"}


REAL_TIME = ("strict-serializable", "strong-snapshot-isolation", "strong-pl-2", "strong-pl-1")


def test_levels_with_real_time_hold_without_committed_transactions() -> None:
    assert {*outcomes(in_sessions(), *REAL_TIME).values()} == {"holds"}
    assert {*outcomes(in_sessions((0, [])), *REAL_TIME).values()} == {"holds"}


def test_an_empty_transaction_changes_no_verdict() -> None:
    levels = [level for level, _ in outcomes(in_sessions(*MIXED)).items()]
    for seed in range(seeds(20, deep=300)):
        rng = random.Random(seed)
        transactions, log = random_transactions(rng)
        more = [*transactions]
        more.insert(rng.randint(0, len(more)), (rng.randint(0, 3), []))
        before = outcomes(logged(transactions, log), *levels, *REAL_TIME)
        assert before == outcomes(logged(more, log), *levels, *REAL_TIME)
