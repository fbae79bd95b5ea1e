"""The six mixes follow the papers, at every level."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest

from isoscope import _native
from isoscope.checkers import check
from isoscope.history import Initial, OperationKind
from isoscope.levels import Level
from isoscope.verdict import Outcome
from isoscope.workloads import MIXES, Mix, Step, Table, Template, Workload, generate

#: Shares of reads in hundredths, as the tables of the papers and the templates make them.
READS = {
    "general-rh": (94, 96),
    "general-rw": (49, 51),
    "general-wh": (29, 31),
    "tpcc": (60, 72),
    "rubis": (92, 97),
    "twitter": (92, 95),
}


@pytest.mark.parametrize("name", MIXES)
def test_a_mix_has_its_share_of_reads(name: str) -> None:
    history = generate(Workload(mix=MIXES[name], transactions=2000, seed=1))
    kinds = [operation.kind for transaction in history for operation in transaction.operations]
    least, most = READS[name]
    assert least <= 100 * kinds.count(OperationKind.READ) / len(kinds) <= most


@pytest.mark.parametrize("level", [Level.READ_COMMITTED, Level.READ_ATOMIC, Level.CAUSAL])
@pytest.mark.parametrize("name", MIXES)
def test_a_mix_keeps_the_level_of_its_store(name: str, level: Level) -> None:
    for lists in (False, True):
        history = generate(Workload(mix=MIXES[name], transactions=500, level=level, lists=lists))
        [verdict] = check(history, [level]).verdicts
        assert verdict.outcome is Outcome.HOLDS


def test_a_general_mix_has_transactions_of_twenty_operations() -> None:
    history = generate(Workload(mix=MIXES["general-rw"], transactions=50))
    assert {len(transaction.operations) for transaction in history} == {20}


def test_tables_are_ranges_of_keys_and_new_rows_come_after_them() -> None:
    mix = Mix(
        meaning="for this test",
        tables=(Table("fixed", 5), Table("log")),
        templates=(Template("only", 1, (Step("update", "fixed"), Step("write", "log", 2, pick="new"))),),
    )
    history = generate(Workload(mix=mix, transactions=10))
    for number, transaction in enumerate(history):
        first, second, *new = transaction.operations
        assert (first.kind, second.kind) == (OperationKind.READ, OperationKind.WRITE)
        assert first.key == second.key
        assert first.key in range(5)
        assert [operation.key for operation in new] == [5 + 2 * number, 6 + 2 * number]


SOUND = Workload(
    sessions=1,
    transactions=1,
    mix=Mix(
        meaning="one read",
        tables=(Table("key", 3),),
        templates=(Template("read", 1, (Step("read", "key"),)),),
    ),
)


def mixed(**change: Any) -> Workload:
    assert SOUND.mix is not None
    return replace(SOUND, mix=replace(SOUND.mix, **change))


@pytest.mark.parametrize(
    ("workload", "problem"),
    [
        (mixed(tables=(Table("key", 3, cast("Any", "normal")),)), "no distribution is called `normal`"),
        (
            mixed(templates=(Template("t", 1, (Step(cast("Any", "swap"), "key"),)),)),
            "no action is called `swap`",
        ),
        (
            mixed(templates=(Template("t", 1, (Step("read", "key", pick=cast("Any", "oldest")),)),)),
            "no pick is called `oldest`",
        ),
        (mixed(templates=(Template("t", 1, (Step("read", "other"),)),)), "no table is called `other`"),
        (replace(SOUND, lag=0), "a version to read"),
        (replace(SOUND, initial=Initial(value="text")), "must be an integer, None or UNKNOWN"),
    ],
)
def test_the_native_core_rejects_unknown_names_and_values(workload: Workload, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        _native.generate(workload, isolation="serial", script=())


def test_the_native_core_rejects_an_unknown_isolation() -> None:
    assert _native.generate(SOUND, isolation="serial", script=()).operations == 1
    with pytest.raises(ValueError, match="no isolation is called `none`"):
        _native.generate(SOUND, isolation="none", script=())
