"""The solver on histories whose version order is known, but hidden from it."""

from __future__ import annotations

import random
from itertools import count

import pytest

from isoscope import History, Recorder, check
from isoscope.history import VersionSource
from tests.seeds import seeds

Transactions = list[tuple[int, list[tuple[str, str, int]]]]
LEVELS = [
    "pl-2",
    "cursor-stability",
    "monotonic-view",
    "parallel-snapshot-isolation",
    "strong-session-parallel-snapshot-isolation",
    "prefix",
    "snapshot-isolation",
    "strong-session-snapshot-isolation",
    "update-serializable",
    "serializable",
    "strong-session-serializable",
]


def one_by_one(rng: random.Random, size: int, stale: float) -> tuple[Transactions, dict[str, list[int]]]:
    """Transactions one after the other; a read is stale with this probability."""
    values = count(1)
    versions: dict[str, list[int]] = {key: [0] for key in "abcdef"}
    transactions: Transactions = []
    for _ in range(size):
        operations: list[tuple[str, str, int]] = []
        for key in rng.sample("abcdef", rng.randint(1, 4)):
            if rng.random() < 0.5:
                place = max(-len(versions[key]), -2) if rng.random() < stale else -1
                operations.append(("read", key, versions[key][place]))
            else:
                operations.append(("write", key, next(values)))
        for kind, key, value in operations:
            if kind == "write":
                versions[key].append(value)
        transactions.append((rng.randint(0, 4), operations))
    return transactions, {key: order[1:] for key, order in versions.items()}


def recorded(transactions: Transactions, log: dict[str, list[int]]) -> History:
    recorder = Recorder(initial=0)
    for session, operations in transactions:
        with recorder.transaction(session=session) as t:
            for kind, key, value in operations:
                getattr(t, kind)(key, value)
    for key, order in log.items():
        recorder.version_order(key, order, source=VersionSource.LOG)
    return recorder.history()


def outcomes(history: History) -> dict[str, str]:
    return {v.level.value: v.outcome.value for v in check(history, LEVELS).verdicts}


@pytest.mark.parametrize("shuffled", [False, True])
def test_a_serial_history_holds_in_any_order_of_its_sessions(shuffled: bool) -> None:
    for seed in range(seeds(10, deep=200)):
        rng = random.Random(seed)
        transactions, _ = one_by_one(rng, 60, stale=0)
        if shuffled:
            transactions.sort(key=lambda transaction: transaction[0])
        assert {*outcomes(recorded(transactions, {})).values()} == {"holds"}, seed


def test_a_level_that_holds_with_the_log_holds_without_it() -> None:
    held = broken = 0
    for seed in range(seeds(40, deep=1_000)):
        rng = random.Random(seed)
        transactions, log = one_by_one(rng, rng.randint(5, 40), stale=rng.choice([0.02, 0.1]))
        known, hidden = outcomes(recorded(transactions, log)), outcomes(recorded(transactions, {}))
        assert "unknown" not in {*known.values(), *hidden.values()}, seed
        for level in LEVELS:
            assert hidden[level] == "holds" or known[level] == "violated", (seed, level)
        held += [*hidden.values()].count("holds")
        broken += [*hidden.values()].count("violated")
    assert held > 50
    assert broken > 50


def folded(transactions: Transactions) -> Transactions:
    """The same transactions with few values: the initial one is among them."""
    return [
        (session, [(kind, key, value % 4) for kind, key, value in operations])
        for session, operations in transactions
    ]


def test_a_serial_history_of_repeated_values_holds() -> None:
    for seed in range(seeds(10, deep=200)):
        transactions, _ = one_by_one(random.Random(seed), 60, stale=0)
        assert {*outcomes(recorded(folded(transactions), {})).values()} == {"holds"}, seed


def test_a_level_that_holds_with_known_writers_holds_with_repeated_values() -> None:
    held = broken = 0
    for seed in range(seeds(12, deep=400)):
        rng = random.Random(seed)
        transactions, log = one_by_one(rng, rng.randint(5, 30), stale=rng.choice([0.1, 0.3]))
        known, hidden = outcomes(recorded(transactions, log)), outcomes(recorded(folded(transactions), {}))
        assert "unknown" not in {*hidden.values()}, seed
        for level in LEVELS:
            assert hidden[level] == "holds" or known[level] == "violated", (seed, level)
        held += [*hidden.values()].count("holds")
        broken += [*hidden.values()].count("violated")
    assert held > 50
    assert broken > 10
