"""The specification finds on mixed histories what definitions find that know no versions and no edges."""

from __future__ import annotations

import random
from collections import Counter
from itertools import permutations, product
from typing import TYPE_CHECKING

import pytest

from isoscope.history import UNKNOWN, OperationKind
from isoscope.levels import Level
from isoscope.reference import adya, commit_order, reads, verdicts, weak
from isoscope.reference.observations import Observations
from isoscope.reference.versions import Versions
from isoscope.verdict import Outcome
from tests.seeds import DEEP, seeds

from . import replays, test_adya
from .mixtures import random_mixture, random_open_mixture

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isoscope.history import History, Transaction

SEEDS = seeds(90, deep=20_000)
pytestmark = pytest.mark.timeout(3600 if DEEP else 300)


def replayable() -> Iterator[History]:
    """Histories whose initial values are known and whose sources do not contradict each other."""
    for seed in range(SEEDS):
        source = random.Random(seed)
        history = random_open_mixture(source) if seed % 3 == 0 else random_mixture(source)
        initial = history.initial
        is_known = initial.value is not UNKNOWN and not initial.replaceable
        if is_known and not Versions(history).contradictions:
            yield history


def test_levels_of_versions_hold_if_transactions_can_be_replayed() -> None:
    seen: Counter[str] = Counter()
    for history in replayable():
        found = adya.outcomes(history)
        is_clean = not reads.judge(history).findings and found[Level.PL_1] is Outcome.HOLDS
        decided = test_adya.by_brute_force(history) | (test_adya.guarantees(history) if is_clean else {})
        for level, holds in decided.items():
            assert found[level] is (Outcome.HOLDS if holds else Outcome.VIOLATED), level
        seen.update(f"{level} {outcome}" for level, outcome in found.items())
    assert {f"{level} {o}" for level in found for o in (Outcome.HOLDS, Outcome.VIOLATED)} <= seen.keys()


def test_pl_1_holds_if_transactions_can_have_written_one_after_the_other() -> None:
    seen: Counter[str] = Counter()
    for history in replayable():
        if {"duplicate-elements", "incompatible-order"} & {f.name for f in reads.judge(history).findings}:
            continue
        found = verdicts.own_outcomes(history)
        for level, given in (
            (Level.PL_1, frozenset[tuple[int, int]]()),
            (Level.STRONG_SESSION_PL_1, replays.session_order(history)),
        ):
            can = writes_in_order(history, given)
            assert found[level] is (Outcome.HOLDS if can else Outcome.VIOLATED), level
            seen[f"{level} {found[level]}"] += 1
    assert len(seen) == 4


def writes_in_order(history: History, given: frozenset[tuple[int, int]]) -> bool:
    """Whether the transactions can have written one after the other what lists and evidence show."""
    observed = Observations(history)
    committed = [t for t in history if t.number in observed.counted]
    lists = {key: observed.canonical_lists.get(reads.token(key), []) for key in history.keys}
    inside = frozenset(pair for pair in given if {*pair} <= observed.counted)
    return any(
        run.agrees_with_given()
        and run.agrees_with_evidence()
        and all(_begins_with(run.installed(key), elements) for key, elements in lists.items())
        for order in permutations(committed)
        for run in [replays._Run(history, order, inside)]
    )


def _begins_with(installed: list[object], elements: list[object]) -> bool:
    tokens = [reads.token(value) for value in installed]
    known = [element for element in elements if element in tokens]
    return tokens[: len(known)] == known


def test_weak_levels_hold_if_a_commit_order_agrees_with_all_evidence() -> None:
    seen: Counter[str] = Counter()
    for history in replayable():
        found = verdicts.outcomes(history)
        for level in weak.LEVELS:
            assert found[level] is not Outcome.UNKNOWN
            assert commit_order.exists(history, level) == (found[level] is Outcome.HOLDS), level
            seen[f"{level} {found[level]} {bool(history.version_orders)}"] += 1
    assert min(seen[f"{level} {o} True"] for level in weak.LEVELS for o in ("holds", "violated")) > 0


def test_monotonic_view_holds_if_every_read_sees_no_less_than_the_operations_before_it() -> None:
    seen: Counter[Outcome] = Counter()
    for history in replayable():
        found = verdicts.outcomes(history)[Level.MONOTONIC_VIEW]
        assert found is (Outcome.HOLDS if is_monotonic(history) else Outcome.VIOLATED)
        seen[found] += 1
    assert min(seen[Outcome.HOLDS], seen[Outcome.VIOLATED]) > SEEDS // 30


def is_monotonic(history: History) -> bool:
    """Whether some order of all transactions explains the history at PL-2L, by Adya's words.

    Each operation that meets another transaction, by reading from it or by writing after it, makes that and
    all that it depends on visible; a later read of a key shows no version before a visible one.
    """
    counted = Observations(history).counted
    committed = [t for t in history if t.number in counted]
    return any(
        run.agrees_with_evidence() and _explains(run)
        for order in permutations(committed)
        for run in [replays._Run(history, order, frozenset())]
    )


def _explains(run: replays._Run) -> bool:
    if not all(run.has_snapshots(t, may_conflict=True) for t in run.order):
        return False
    past: dict[int, set[int]] = {}
    for transaction in run.order:
        past[transaction.number] = _past(run, transaction, past)
    return all(_never_misses(run, t, past) for t in run.order)


def _past(run: replays._Run, transaction: Transaction, past: dict[int, set[int]]) -> set[int]:
    """Everything that a transaction depends on; those before it in the order are known already."""
    met = {n for place in range(len(transaction.operations)) for n in _met(run, transaction, place)}
    return met.union(*(past[n] for n in met))


def _met(run: replays._Run, transaction: Transaction, place: int) -> set[int]:
    """The transactions whose values an operation shows, or the writers of its key before it."""
    operation = transaction.operations[place]
    before = run.before(transaction)
    if operation.kind is not OperationKind.READ:
        return {t.number for t in before if operation.key in replays._keys(t)}
    values = operation.value if isinstance(operation.value, tuple) else (operation.value,)
    return {t.number for t, value in product(before, values) if _wrote(t, operation.key, value)}


def _wrote(transaction: Transaction, key: object, value: object) -> bool:
    is_write = (OperationKind.WRITE, OperationKind.APPEND)
    return any((o.key, o.value) == (key, value) and o.kind in is_write for o in transaction.operations)


def _never_misses(run: replays._Run, transaction: Transaction, past: dict[int, set[int]]) -> bool:
    visible: set[int] = set()
    writers = [t.number for t in run.order]
    for place, operation in enumerate(transaction.operations):
        now = _met(run, transaction, place)
        is_external = place in replays._external(transaction, operation.key)
        visible |= now.union(*(past[n] for n in now))
        if operation.kind is not OperationKind.READ or not is_external:
            continue
        last = max((writers.index(n) for n in now), default=-1)
        missed = [t for t in run.order[last + 1 :] if operation.key in replays._keys(t)]
        if any(t.number in visible for t in missed):
            return False
    return True
